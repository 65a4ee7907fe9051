// Traits: PostgreSQL
import KeelStorage
import KeelStoragePostgreSQL

let adapter = try await PostgreSQLStorageAdapter(at: .url("postgresql://127.0.0.1/notes"))
try await StorageClient(adapter).setDocument("notes/1", ["text": "Hello"])
