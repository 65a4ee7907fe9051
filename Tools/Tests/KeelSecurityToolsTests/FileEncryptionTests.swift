import Foundation
import KeelSecurity
import KeelSecurityTools
import KeelToolsTestSupport
import Testing

@Suite("File encryption")
struct FileEncryptionTests {
    @Test("A cancelled task leaves nothing behind", arguments: [0, 10, 3 << 20])
    func cancelled(count: Int) async throws {
        let scratch = try Scratch()
        let source = scratch.file("plain")
        try Data(repeating: 65, count: count).write(to: source)
        let encryption = try FileEncryption(
            keyset: try Keyset.make(.aes256GCMHKDF64KB),
            associatedData: Data()
        )
        let target = scratch.file("sealed")
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            let pipe = FilePipe(from: .file(source), to: .file(target))
            return try await encryption.run(.encrypt, through: pipe)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
        #expect(names == ["plain"])
    }
}
