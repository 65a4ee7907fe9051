import KeelStorage

let storage = StorageClient(InMemoryStorageAdapter())
try await storage.setDocument("notes/1", ["text": "Hello"])
