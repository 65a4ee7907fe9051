// Traits: Crypto
import Foundation
import KeelFiles
import KeelFilesS3
import KeelHTTP

let transport = UnavailableHTTPTransport(TransportError(.offline))
let bucket = S3FileStoreAdapter.Configuration(bucket: "notes", region: "eu-central-1")
let files = FileStore(try S3FileStoreAdapter(bucket, transport: transport))
try await files.write(Data("Hello".utf8), to: "notes/1.txt")
