#if Crypto
import KeelTestSupport
import Foundation
import KeelCore
import KeelFiles
import KeelSecurity
import KeelSecurityFiles
import KeelTestKit
import Synchronization
import Testing

@Suite("Encrypted files")
struct EncryptedFileTests {
    private let store = InMemoryFileStoreAdapter()
    private let text = Data("It was the best of times, it was the worst of times.".utf8)

    private func streams(
        _ algorithm: KeyAlgorithm = .aes256GCMHKDF4KB
    ) throws -> StreamingEncryption {
        try StreamingEncryption(keyset: .make(algorithm))
    }

    private func code(_ body: () async throws -> some Any) async -> FileStoreError.Code? {
        do {
            _ = try await body()
            return nil
        } catch { return (error as? FileStoreError)?.code }
    }

    @Test("The store contains no plaintext, and sizes are those of the plaintext")
    func hidden() async throws {
        let files = FileStore(try store.encrypted(with: streams()))
        let told = try await files.write(
            text,
            to: "a.txt",
            options: FileWriteOptions(checksum: .of(Array(text)))
        )
        #expect(told.size == text.count)
        #expect(told.contentType == "text/plain")
        #expect(told.checksum == nil)
        let kept = try await FileStore(store).read("a.txt")
        #expect(kept.count == text.count + 56)
        #expect(kept.range(of: text.prefix(8)) == nil)
        #expect(try await files.list().files.map(\.size) == [text.count])
        #expect(try await files.read("a.txt") == text)
    }

    @Test("Equal files have different ciphertexts")
    func salted() async throws {
        let files = FileStore(try store.encrypted(with: streams(), binding: .context))
        try await files.write(text, to: "a")
        try await files.write(text, to: "b")
        let plain = FileStore(store)
        #expect(try await plain.read("a") != plain.read("b"))
    }

    @Test("Every range is read correctly around all segment boundaries")
    func parts() async throws {
        let files = FileStore(try store.encrypted(with: streams()))
        let bytes = Data((0..<12_500).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
        let edges = [0, 1, 4039, 4040, 4041, 8119, 8120, 8121, 12_199, 12_200, 12_201, 12_499]
        for size in [0, 1, 4040, 8120, 12_500] {
            try await files.write(bytes.prefix(size), to: "a")
            for start in edges where start <= size {
                for end in edges where end >= start {
                    let expected = bytes[start..<max(start, min(end, size))]
                    let part = try await files.read("a", range: .bytes(start, count: end - start))
                    #expect(part == Data(expected))
                }
                #expect(try await files.read("a", range: .from(start)) == bytes[start..<size])
                let last = bytes[max(0, size - start)..<size]
                #expect(try await files.read("a", range: .last(start)) == last)
            }
            let behind = await code { try await files.read("a", range: .from(size + 1)) }
            #expect(behind == .rangeNotSatisfiable)
        }
    }

    @Test("Reading a range fetches only its own segments and the header")
    func partsAreSmall() async throws {
        let count = Mutex(0)
        let counted = store.observed { call in
            if call.operation == .read { count.withLock { $0 += call.byteCount } }
        }
        let files = FileStore(try counted.encrypted(with: streams()))
        try await files.write(Data(count: 1 << 20), to: "a")
        _ = try await files.read("a", range: .bytes(500_000, count: 100))
        #expect(count.withLock { $0 } <= 2 * 4096 + 40)
    }

    @Test("Flipped bits, missing bytes and extra bytes are detected")
    func damage() async throws {
        let files = FileStore(try store.encrypted(with: streams()))
        try await files.write(Data(count: 9000), to: "a")
        let sealed = try await FileStore(store).read("a")
        for place in stride(from: 0, to: sealed.count, by: 211) {
            var flipped = sealed
            flipped[place] ^= 4
            try await FileStore(store).write(flipped, to: "a")
            #expect(await code { try await files.read("a") } == .damaged)
        }
        for other in [sealed.dropLast(), sealed.prefix(4096), sealed + [0], sealed.prefix(20)] {
            try await FileStore(store).write(Data(other), to: "a")
            #expect(await code { try await files.read("a") } == .damaged)
            #expect(await code { try await files.read("a", range: .last(10)) } == .damaged)
        }
    }

    @Test("A range in a damaged segment is refused, and one next to it is read")
    func damagedPart() async throws {
        let files = FileStore(try store.encrypted(with: streams()))
        try await files.write(Data(count: 9000), to: "a")
        var sealed = try await FileStore(store).read("a")
        sealed[5000] ^= 1
        try await FileStore(store).write(sealed, to: "a")
        #expect(await code { try await files.read("a", range: .bytes(4100, count: 1)) } == .damaged)
        #expect(try await files.read("a", range: .bytes(100, count: 5)) == Data(count: 5))
    }

    @Test("A file replaced by another is refused unless allowed")
    func swapped() async throws {
        for binding in FileBinding.allCases {
            let files = FileStore(try store.encrypted(with: streams(), binding: binding))
            try await files.write(text, to: "user")
            try await FileStore(store).copy("user", to: "admin")
            let code = await code { try await files.read("admin") }
            #expect(code == (binding == .path ? .damaged : nil))
            let part = await self.code { try await files.read("admin", range: .from(3)) }
            #expect(part == code)
        }
    }

    @Test("Another key and another context are refused")
    func foreign() async throws {
        let streams = try streams()
        let files = FileStore(try store.encrypted(with: streams, context: "mail"))
        try await files.write(text, to: "a")
        let others = [
            try store.encrypted(with: streams, context: "mai"),
            try store.encrypted(with: self.streams(), context: "mail"),
        ]
        for other in others {
            #expect(await code { try await FileStore(other).read("a") } == .damaged)
        }
        // Plain concatenation would give the same bytes for both.
        let path: FileStorePath = "l/a"
        let mai = FileStore(try store.encrypted(with: streams, context: "mai"))
        try await files.write(text, to: "a")
        try await FileStore(store).copy("a", to: path)
        #expect(await code { try await mai.read(path) } == .damaged)
    }

    @Test("After a rotation, old files are readable and new ones use the new key")
    func rotation() async throws {
        let old = try Keyset.make(.aes256GCMHKDF4KB)
        let files = FileStore(try store.encrypted(with: StreamingEncryption(keyset: old)))
        try await files.write(text, to: "old")
        var both = old
        try both.rotate()
        let later = FileStore(try store.encrypted(with: StreamingEncryption(keyset: both)))
        try await later.write(text, to: "new")
        #expect(try await later.read("old") == text)
        #expect(try await later.read("old", range: .last(6)) == text.suffix(6))
        #expect(await code { try await files.read("new") } == .damaged)
        var mixed = old
        try mixed.rotate(to: .aes256GCMHKDF64KB)
        let streams = try StreamingEncryption(keyset: mixed)
        #expect(await code { try store.encrypted(with: streams) } == .invalidArgument)
    }

    private struct FixedKeySource: KeyEncryptionKeySource {
        func keyEncryptionKey() async throws -> KeyEncryptionKey {
            try #require(KeyEncryptionKey(identifier: "k", bytes: [UInt8](0..<32)))
        }
    }

    @Test("A store in use follows its keyset file and keeps its segment size")
    func sharedKeys() async throws {
        let keys = KeysetFile(
            at: "/app/keys.json",
            under: FixedKeySource(),
            files: SimulatedFileSystem()
        )
        let ring = try await keys.ring(creating: .aes256GCMHKDF4KB)
        let files = FileStore(try store.encrypted(with: StreamingEncryption(keys: ring)))
        try await files.write(text, to: "old")
        let first = ring.keyset.primaryID
        try await keys.change { keyset throws(SecurityError) in try keyset.rotate() }
        try await files.write(text, to: "new")
        #expect(try await files.read("old") == text)
        try await keys.change { keyset throws(SecurityError) in try keyset.destroy(first) }
        #expect(await code { try await files.read("old") } == .damaged)
        #expect(try await files.read("new") == text)
        #expect(try await files.read("new", range: .last(6)) == text.suffix(6))
        try await keys.change { keyset throws(SecurityError) in
            try keyset.rotate(to: .aes256GCMHKDF64KB)
        }
        #expect(await code { try await files.write(text, to: "other") } == .writeFailed)
        #expect(try await files.read("new") == text)
    }

    @Test("A wrong checksum or length changes nothing")
    func announced() async throws {
        let files = FileStore(try store.encrypted(with: streams()))
        try await files.write(text, to: "a")
        let wrong = FileWriteOptions(checksum: try .of([1, 2, 3]))
        let found = await code { try await files.write(Data(count: 9), to: "a", options: wrong) }
        #expect(found == .checksumMismatch)
        let short = FileContent(length: 10, isReplayable: true) { () throws(FileStoreError) in
            try await FileContent([1, 2]).open()
        }
        #expect(await code { try await files.write(short, to: "a") } == .checksumMismatch)
        #expect(try await files.read("a") == text)
    }

    @Test("A move that cannot remove the old file reports it and loses nothing")
    func halfMove() async throws {
        let failing = store.failing { call in
            call.kind == .delete ? .fail(.permissionDenied) : nil
        }
        let files = FileStore(try failing.encrypted(with: streams()))
        try await files.write(text, to: "a")
        #expect(await code { try await files.move("a", to: "b") } == .unavailable)
        #expect(try await files.read("a") == text)
        #expect(try await files.read("b") == text)
    }

    @Test("A move also removes the old file in a store that refuses conditions")
    func moveWithoutConditions() async throws {
        let refusing = store.failing { call in
            guard case .delete(_, let condition) = call, condition != .none else { return nil }
            return .fail(.unsupported)
        }
        let files = FileStore(try refusing.encrypted(with: streams()))
        try await files.write(text, to: "a")
        try await files.move("a", to: "b")
        #expect(try await !files.exists("a"))
        #expect(try await files.read("b") == text)
    }

    @Test("Files are copied and moved in a store without attributes")
    func transferWithoutAttributes() async throws {
        let files = FileStore(try PlainStore(upstream: store).encrypted(with: streams()))
        try await files.write(text, to: "a")
        try await files.copy("a", to: "b")
        try await files.move("a", to: "c")
        #expect(try await !files.exists("a"))
        #expect(try await files.read("b") == text)
        #expect(try await files.read("c") == text)
    }

    @Test("An inner cache holds encrypted files")
    func cached() async throws {
        let cache = InMemoryFileStoreAdapter()
        let files = FileStore(try store.cached(in: cache).encrypted(with: streams()))
        try await files.write(text, to: "a")
        #expect(try await files.read("a") == text)
        let kept = try await FileStore(cache).read("a")
        #expect(kept == (try await FileStore(store).read("a")))
    }
}

/// A store as on a volume without extended attributes.
private struct PlainStore: FileStoreAdapter {
    let upstream: InMemoryFileStoreAdapter

    var capabilities: FileStoreCapabilities { upstream.capabilities.subtracting(.attributes) }

    func metadata(of path: FileStorePath) async throws(FileStoreError) -> FileMetadata? {
        try await upstream.metadata(of: path)
    }

    func read(
        _ path: FileStorePath,
        range: FileRange,
        ifVersion version: FileVersion?
    ) async throws(FileStoreError) -> FileReading {
        try await upstream.read(path, range: range, ifVersion: version)
    }

    func write(
        _ content: FileContent,
        to path: FileStorePath,
        options: FileWriteOptions
    ) async throws(FileStoreError) -> FileMetadata {
        guard options.attributes.isEmpty, options.contentType == nil else {
            throw FileStoreError(.unsupported, "The store has no attributes.")
        }
        return try await upstream.write(content, to: path, options: options)
    }

    func transfer(_ request: FileTransferRequest) async throws(FileStoreError) -> FileMetadata {
        try await upstream.transfer(request)
    }

    func delete(
        _ path: FileStorePath,
        if condition: FileCondition
    ) async throws(FileStoreError) -> Bool {
        try await upstream.delete(path, if: condition)
    }

    func list(_ request: FileListRequest) async throws(FileStoreError) -> FilePage {
        try await upstream.list(request)
    }
}
#endif
