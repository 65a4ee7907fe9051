// Traits: Crypto
import Foundation
import KeelFiles
import KeelSecurity
import KeelSecurityFiles

let streams = try StreamingEncryption(keyset: .make(.aes256GCMHKDF4KB))
let files = FileStore(try InMemoryFileStoreAdapter().encrypted(with: streams))
try await files.write(Data("Hello".utf8), to: "notes/1.txt")
