import Foundation
import KeelHTTP
import KeelStorage
import KeelStorageFirestore

let transport = UnavailableHTTPTransport(TransportError(.offline))
let adapter = FirestoreStorageAdapter(.keel(URL(filePath: "/")), transport: transport)
try await StorageClient(adapter).setDocument("notes/1", ["text": "Hello"])
