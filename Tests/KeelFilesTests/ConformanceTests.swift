import Foundation
import KeelConformance
import KeelFiles
import KeelTestKit
import Testing

@Suite("File stores keep their promises", .timeLimit(.minutes(5)))
struct ConformanceTests {
    @Test("in memory", arguments: FileStoreCheck.applicable(to: memory))
    func inMemory(_ check: FileStoreCheck) async throws {
        try await check.run(
            on: FileStoreSubject(features: Self.memory) { _ in
                InMemoryFileStoreAdapter()
            }
        )
    }

    static let memory = FileStoreSubject.Features.complete.subtracting(.reopening)

    @Test("in a folder", arguments: FileStoreCheck.applicable(to: local))
    func inFolder(_ check: FileStoreCheck) async throws {
        let scratch = try ScratchFolder()
        try await check.run(
            on: FileStoreSubject(features: Self.local) { name in
                try LocalFileStoreAdapter(folder: scratch.path + "/" + name)
            }
        )
    }

    static let local = FileStoreSubject.Features.complete.subtracting(.watching)
}
