"""Support for tests: scripted servers, page objects, pictures, and damaged or killed programs."""
