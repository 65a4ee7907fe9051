// Traits: Observability
import KeelStorage
import KeelStorageObservability

let storage = StorageClient(InMemoryStorageAdapter().observed())
try await storage.setDocument("notes/1", ["text": "Hello"])
