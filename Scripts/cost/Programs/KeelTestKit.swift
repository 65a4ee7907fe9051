import KeelStorage
import KeelTestKit

let adapter = InMemoryStorageAdapter().failing([.fail(.diskFull)])
try await StorageClient(adapter).setDocument("notes/1", ["text": "Hello"])
