"""Files and notes for tests: documents, images, hostile and damaged files, catalogs."""
