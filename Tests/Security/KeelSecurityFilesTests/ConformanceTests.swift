#if Crypto
import Foundation
import KeelConformance
import KeelFiles
import KeelSecurity
import KeelSecurityFiles
import Testing

@Suite("Encrypted file stores keep the promises of file stores", .timeLimit(.minutes(5)))
struct ConformanceTests {
    /// Encrypted files do not expose a checksum.
    static let memory = FileStoreSubject.Features.complete.subtracting([.reopening, .checksums])

    @Test(
        "An in-memory store",
        arguments: FileStoreCheck.applicable(to: memory),
        FileBinding.allCases
    )
    func inMemory(_ check: FileStoreCheck, _ binding: FileBinding) async throws {
        let streams = try StreamingEncryption(keyset: .make(.aes256GCMHKDF4KB))
        try await check.run(
            on: FileStoreSubject(features: Self.memory) { _ in
                try InMemoryFileStoreAdapter().encrypted(with: streams, binding: binding)
            }
        )
    }

    #if os(Linux)
    static let local = FileStoreSubject.Features.complete.subtracting(.checksums)
    #else
    static let local = FileStoreSubject.Features.complete.subtracting([.watching, .checksums])
    #endif

    @Test("A store in a folder", arguments: FileStoreCheck.applicable(to: local))
    func inFolder(_ check: FileStoreCheck) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "keel-encrypted-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let streams = try StreamingEncryption(keyset: .make(.aes256GCMHKDF64KB))
        try await check.run(
            on: FileStoreSubject(features: Self.local) { name in
                try LocalFileStoreAdapter(folder: folder.path + "/" + name).encrypted(with: streams)
            }
        )
    }
}
#endif
