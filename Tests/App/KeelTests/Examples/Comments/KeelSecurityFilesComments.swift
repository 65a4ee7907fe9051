#if Crypto
import Foundation
import HTTPTypes
import Keel
import KeelSecurityFiles
import KeelTestKit
import Testing

/// Examples from the comments of KeelSecurityFiles; compiled but not run, see ``CommentExamples``.
extension CommentExamples {
    static func encryptedFileStoreAdapter(_ remote: InMemoryFileStoreAdapter) async throws {
        let key = try Keyset.make(.aes256GCMHKDF64KB)
        let adapter = try remote.encrypted(with: StreamingEncryption(keyset: key))
        let files = FileStore(adapter)
        _ = key
        _ = adapter
        _ = files
    }
}
#endif
