import Foundation
import KeelSecurity
import KeelSecurityTools
import KeelToolSupport
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

    @Test("A file that another program writes meanwhile is not replaced", arguments: [true, false])
    func changedMeanwhile(isReplaced: Bool) async throws {
        let scratch = try Scratch()
        let file = try scratch.file("sealed", holding: "old")
        let pipe = FilePipe(from: .file(file), to: .file(file), replaces: true)
        let error = await #expect(throws: ToolError.self) {
            let progress: (Int) -> Void = { _ in }
            _ = try await pipe.run(progress: progress) { piece in
                let newer = Data("newer".utf8)
                try newer.write(to: file, options: isReplaced ? .atomic : [])
                return piece ?? Data()
            }
        }
        #expect(error?.message.contains("was changed by another program") == true)
        #expect(try Data(contentsOf: file) == Data("newer".utf8))
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path)
        #expect(names == ["sealed"])
    }
}
