// Traits: SQLite
import KeelStorage
import KeelStorageSQLite

let storage = StorageClient(try SQLiteStorageAdapter(at: .temporary()))
try await storage.setDocument("notes/1", ["text": "Hello"])
