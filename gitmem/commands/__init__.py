"""One use case a module: one public function that joins edge and core and prints."""
