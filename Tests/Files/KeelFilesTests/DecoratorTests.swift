import Foundation
import KeelCore
import KeelFiles
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("File store decorators")
struct DecoratorTests {
    @Test("Each call is observed with its bytes, duration and failure")
    func observed() async throws {
        let told = Mutex<[FileStoreObservation]>([])
        let clock = TestClock()
        let files = FileStore(
            InMemoryFileStoreAdapter().observed(clock: clock) { call in
                told.withLock { $0.append(call) }
            }
        )
        try await files.write(Data("hello".utf8), to: "a")
        _ = try await files.read("a")
        _ = try await files.readIfPresent("b")
        try await files.move("a", to: "c")
        _ = try await files.list()
        let calls = told.withLock { $0 }
        #expect(calls.map(\.operation) == [.write, .read, .read, .move, .list])
        #expect(calls.map(\.byteCount) == [5, 5, 0, 0, 0])
        #expect(calls.map(\.failure) == [nil, nil, .fileNotFound, nil, nil])
        #expect(calls.map(\.path) == ["a", "a", "b", "c", ""])
        #expect(calls.allSatisfy { $0.duration == .zero })
    }

    @Test("Files that the store did not try to remove are not observed")
    func untried() async {
        let told = Mutex<[FileStoreObservation]>([])
        let store = InMemoryFileStoreAdapter().failing([nil, .fail(.permissionDenied)])
            .observed { call in told.withLock { $0.append(call) } }
        #expect(await store.deleteEach(["a", "b", "c"]).count == 2)
        let calls = told.withLock { $0 }
        #expect(calls.map(\.path) == ["a", "b"])
        #expect(calls.map(\.failure) == [nil, .permissionDenied])
    }

    @Test("An abandoned read is observed when it is released")
    func dropped() async throws {
        let told = Mutex<[FileStoreObservation]>([])
        let store = InMemoryFileStoreAdapter()
        try await FileStore(store).write(Data("hello".utf8), to: "a")
        let files = FileStore(store.observed { call in told.withLock { $0.append(call) } })
        _ = try await files.open("a")
        #expect(told.withLock { $0.map(\.operation) } == [.read])
    }

    @Test("A cached file is read from the fast store while it is current")
    func cached() async throws {
        let slow = InMemoryFileStoreAdapter().recorded()
        let files = FileStore(slow.cached(in: InMemoryFileStoreAdapter()))
        try await files.write(Data("one".utf8), to: "a")
        for _ in 0..<3 { #expect(try await files.read("a") == Data("one".utf8)) }
        #expect(try await files.read("a", range: .last(2)) == Data("ne".utf8))
        #expect(slow.callCount(of: .read) == 1)
        // Another client changes the file.
        try await FileStore(slow).write(Data("two".utf8), to: "a")
        #expect(try await files.read("a") == Data("two".utf8))
        #expect(slow.callCount(of: .read) == 2)
        try await files.delete("a")
        #expect(try await files.readIfPresent("a") == nil)
    }

    @Test("A cached file that has lost bytes is read from the slow store")
    func truncatedCache() async throws {
        let fast = InMemoryFileStoreAdapter()
        let files = FileStore(InMemoryFileStoreAdapter().cached(in: fast))
        try await files.write(Data("one two".utf8), to: "a")
        _ = try await files.read("a")
        let cache = FileStore(fast)
        let attributes = try await cache.metadata(of: "a").attributes
        try await cache.write(
            Data("one".utf8),
            to: "a",
            options: FileWriteOptions(attributes: attributes)
        )
        #expect(try await files.read("a", range: .last(3)) == Data("two".utf8))
        #expect(try await files.read("a") == Data("one two".utf8))
    }

    @Test("A failing fast store does not cause failures")
    func failingCache() async throws {
        let broken = InMemoryFileStoreAdapter().failing { _ in .fail(.diskFull) }
        let files = FileStore(InMemoryFileStoreAdapter().cached(in: broken))
        try await files.write(Data("one".utf8), to: "a")
        #expect(try await files.read("a") == Data("one".utf8))
        try await files.delete("a")
        #expect(try await files.exists("a") == false)
    }

    @Test("A broken upload changes nothing, and a broken download is an error")
    func faults() async throws {
        let store = InMemoryFileStoreAdapter()
        let files = FileStore(store.failing([.breakOff(after: 3), nil, .breakOff(after: 3)]))
        await expectError(FileStoreError.self, .unavailable) {
            try await files.write(Data("hello".utf8), to: "a")
        }
        try await files.write(Data("hello".utf8), to: "a")
        await expectError(FileStoreError.self, .unavailable) { try await files.read("a") }
        #expect(try await files.read("a") == Data("hello".utf8))
    }

    @Test("A call with a lost reply has taken effect")
    func lostReply() async throws {
        let store = InMemoryFileStoreAdapter()
        let files = FileStore(store.failing([.loseReply()]))
        let error = await #expect(throws: FileStoreError.self) {
            try await files.write(Data("x".utf8), to: "a")
        }
        #expect(error?.isTransient == true)
        #expect(try await files.exists("a"))
    }
}
