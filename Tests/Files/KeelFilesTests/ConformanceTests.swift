import Foundation
import KeelConformance
import KeelFiles
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("File stores keep their promises", .timeLimit(.minutes(5)))
struct ConformanceTests {
    @Test("An in-memory store", arguments: FileStoreCheck.applicable(to: memory))
    func inMemory(_ check: FileStoreCheck) async throws {
        try await check.run(
            on: FileStoreSubject(features: Self.memory) { _ in InMemoryFileStoreAdapter() }
        )
    }

    static let memory = FileStoreSubject.Features.complete.subtracting(.reopening)

    @Test("A store in a folder", arguments: FileStoreCheck.applicable(to: local))
    func inFolder(_ check: FileStoreCheck) async throws {
        let scratch = try TemporaryFolder()
        try await check.run(
            on: FileStoreSubject(features: Self.local) { name in
                try LocalFileStoreAdapter(folder: scratch.path + "/" + name)
            }
        )
    }

    #if os(Linux)
    static let local = FileStoreSubject.Features.complete
    #else
    static let local = FileStoreSubject.Features.complete.subtracting(.watching)
    #endif

    @Test("A store with observer, recorder and inactive fault injection", arguments: [false, true])
    func decorated(_ isLocal: Bool) async throws {
        let scratch = try TemporaryFolder()
        let features = isLocal ? Self.local : Self.memory
        let subject = FileStoreSubject(features: features) { name -> any FileStoreAdapter in
            guard isLocal else {
                return InMemoryFileStoreAdapter().observed { _ in }.recorded().failing([])
            }
            let local = try LocalFileStoreAdapter(folder: scratch.path + "/" + name)
            return local.observed { _ in }.recorded().failing([])
        }
        for check in FileStoreCheck.applicable(to: features) { try await check.run(on: subject) }
    }

    @Test("A cached store", arguments: FileStoreCheck.applicable(to: memory))
    func cached(_ check: FileStoreCheck) async throws {
        try await check.run(
            on: FileStoreSubject(features: Self.memory) { _ in
                InMemoryFileStoreAdapter().cached(in: InMemoryFileStoreAdapter())
            }
        )
    }
}
