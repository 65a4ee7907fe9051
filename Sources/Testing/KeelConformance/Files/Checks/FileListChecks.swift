import Foundation
import KeelFiles
import Synchronization
import Testing

extension FileStoreCheck {
    private static let some: [FileStorePath] = [
        "b", "a/2", "a.txt", "a/1", "a/b/3", "c/d/4", "a/b.c", "aa", "Z",
    ]

    package static let listing: [Self] = [
        Self(.listing, "an empty store and an empty folder list nothing") { test async throws in
            #expect(try await test.files.list() == FilePage(files: []))
            #expect(try await test.files.list(in: "a/b") == FilePage(files: []))
        },
        Self(.listing, "files are listed in the byte order of their paths") { test async throws in
            for path in some { try await test.put("x", at: path) }
            let sorted = some.sorted().map(\.string)
            #expect(try await test.files.list().files.map(\.path.string) == sorted)
        },
        Self(.listing, "a folder lists its own files and those of its subfolders") {
            test async throws in
            for path in some { try await test.put("x", at: path) }
            #expect(try await test.paths(in: "a") == ["a/1", "a/2", "a/b.c", "a/b/3"])
            #expect(try await test.paths(in: "c/d") == ["c/d/4"])
            #expect(try await test.paths(in: "b").isEmpty)
        },
        Self(.listing, "a nonrecursive list contains each folder once") { test async throws in
            for path in some { try await test.put("x", at: path) }
            let root = try await test.files.list(isRecursive: false)
            #expect(root.files.map(\.path.string) == ["Z", "a.txt", "aa", "b"])
            #expect(root.folders.map(\.string) == ["a", "c"])
            let inner = try await test.files.list(in: "a", isRecursive: false)
            #expect(inner.files.map(\.path.string) == ["a/1", "a/2", "a/b.c"])
            #expect(inner.folders.map(\.string) == ["a/b"])
        },
        Self(.listing, "pages of any size contain every entry once") { test async throws in
            for path in some { try await test.put("x", at: path) }
            for limit in 1...10 {
                for isRecursive in [true, false] {
                    let whole = try await test.files.list(isRecursive: isRecursive)
                    var (files, folders, next) = (
                        [FileSummary](), [FileStoreFolder](), FileCursor?.none
                    )
                    repeat {
                        let page = try await test.files.list(
                            isRecursive: isRecursive,
                            after: next,
                            limit: limit
                        )
                        #expect(page.files.count + page.folders.count <= limit)
                        files += page.files
                        folders += page.folders
                        next = page.next
                    } while next != nil
                    #expect(files == whole.files, "\(limit)")
                    #expect(folders == whole.folders, "\(limit)")
                }
            }
        },
        Self(.listing, "a cursor stays valid after its file is deleted") { test async throws in
            for path in some { try await test.put("x", at: path) }
            let page = try await test.files.list(limit: 3)
            for file in page.files { try await test.files.delete(file.path) }
            let rest = try await test.files.list(after: page.next)
            #expect(rest.files.map(\.path) == Array(some.sorted().dropFirst(3)))
        },
        Self(.listing, "a list contains the size and version of each file") { test async throws in
            let metadata = try await test.put("12345", at: "a/b")
            #expect(try await test.files.list().files == [metadata.summary])
        },
        Self(.listing, "a page limit below one or above the maximum is rejected") {
            test async throws in
            for limit in [0, -1, FileListRequest.maximumLimit + 1] {
                let code = await test.code { _ = try await test.files.list(limit: limit) }
                #expect(code == .invalidArgument)
            }
        },
        Self(.listing, "folders whose files were deleted are not listed") { test async throws in
            try await test.put("x", at: "a/b/c")
            try await test.files.delete("a/b/c")
            #expect(try await test.files.list(isRecursive: false) == FilePage(files: []))
        },
    ]

    package static let interruption: [Self] = [
        Self(.interruption, "a failing source changes nothing, and its error is the cause") {
            test async throws in
            try await test.put("old", at: "a")
            let failing = FileContent(
                AsyncThrowingStream<[UInt8], any Error> { continuation in
                    continuation.yield(fileBytes(1, count: 10_000))
                    continuation.finish(throwing: CocoaError(.fileReadCorruptFile))
                }
            )
            let error = await #expect(throws: FileStoreError.self) {
                try await test.files.write(failing, to: "a")
            }
            #expect(error?.code == .sourceFailed)
            #expect(error?.cause is CocoaError)
            #expect(try await test.text("a") == "old")
            #expect(try await test.paths() == ["a"])
        },
        Self(.interruption, "content that can be read once is not accepted a second time") {
            test async throws in
            let once = FileContent(
                AsyncStream<[UInt8]> { continuation in
                    continuation.yield([1])
                    continuation.finish()
                }
            )
            try await test.files.write(once, to: "a")
            let code = await test.code { try await test.files.write(once, to: "b") }
            #expect(code == .contentConsumed)
            #expect(try await test.files.exists("b") == false)
        },
        Self(.interruption, "a put canceled halfway changes nothing") {
            test async throws in
            try await test.put("old", at: "a")
            let (begun, beginning) = AsyncStream<Void>.makeStream()
            // The length is bounded, so that a store that does not stop fails the check without exhausting the
            // machine.
            let long = FileContent(length: nil, isReplayable: false) { () throws(FileStoreError) in
                let left = Mutex(100_000)
                return FileReader { () async throws(FileStoreError) in
                    beginning.yield()
                    await Task.yield()
                    let isOver = left.withLock { left in
                        left -= 1
                        return left < 0
                    }
                    return isOver ? nil : [UInt8](repeating: 7, count: 1000)
                }
            }
            let task = Task {
                // Ends the wait below for a store that never asks for bytes.
                defer { beginning.finish() }
                return await test.code { try await test.files.write(long, to: "a") }
            }
            for await _ in begun { break }
            task.cancel()
            #expect(await task.value == .cancelled)
            #expect(try await test.text("a") == "old")
            #expect(try await test.paths() == ["a"])
        },
        Self(.interruption, "a stream that ends by cancellation does not create a file") {
            test async throws in
            try await test.put("old", at: "a")
            let (pieces, giving) = AsyncStream<[UInt8]>.makeStream()
            let (begun, beginning) = AsyncStream<Void>.makeStream()
            giving.yield([1, 2, 3])
            let content = FileContent(pieces)
            let task = Task {
                defer { beginning.finish() }
                return await test.code {
                    try await test.files.write(content, to: "a") { _ in beginning.yield() }
                }
            }
            for await _ in begun { break }
            task.cancel()
            #expect(await task.value == .cancelled)
            #expect(try await test.text("a") == "old")
        },
        Self(.interruption, "a call from a canceled task does nothing") { test async throws in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await test.code { try await test.put("x", at: "a") }
            }
            #expect(await task.value == .cancelled)
            #expect(try await test.files.exists("a") == false)
        },
    ]

    package static let reopening: [Self] = [
        Self(.reopening, "files are present after reopening", needs: .reopening) {
            test async throws in
            let metadata = try await test.put("x", at: "a/b.json")
            let files = try await test.reopened()
            #expect(try await files.metadata(of: "a/b.json") == metadata)
            #expect(try await files.read("a/b.json") == Data("x".utf8))
        },
        Self(.reopening, "conditions work across openings", needs: .reopening) {
            test async throws in
            let other = try await test.reopened()
            let version = try await test.put("1", at: "a").version
            try await other.write(Data("2".utf8), to: "a")
            let code = await test.code {
                try await test.put("3", at: "a", .init(condition: .version(version)))
            }
            #expect(code == .conditionFailed)
            #expect(try await test.text("a") == "2")
        },
        Self(
            .reopening,
            "an opening does not interfere with a put in progress",
            needs: .reopening
        ) {
            test async throws in
            let bytes = fileBytes(1, count: 50_000)
            let content = FileContent(length: 100_000, isReplayable: false) {
                () throws(FileStoreError) in
                let pieces = PieceSource([bytes, bytes])
                return FileReader { () async throws(FileStoreError) in
                    _ = try? await test.reopened()
                    return await pieces.next()
                }
            }
            try await test.files.write(content, to: "a")
            #expect(try await Array(test.files.read("a")) == bytes + bytes)
        },
    ]

    package static let watching: [Self] = [
        Self(.watching, "puts and deletions are reported in order", needs: .watching) {
            test async throws in
            let changes = try await test.files.changes()
            var told: [FileChange] = []
            try await test.put("1", at: "a")
            try await changes.read(&told, upTo: .written("a"))
            try await test.put("2", at: "b/c")
            try await changes.read(&told, upTo: .written("b/c"))
            try await test.files.delete("a")
            try await changes.read(&told, upTo: .removed("a"))
            #expect(told == [.written("a"), .written("b/c"), .removed("a")])
        },
        Self(.watching, "a move is reported as a removal and a new file", needs: .watching) {
            test async throws in
            try await test.put("1", at: "a")
            let changes = try await test.files.changes()
            try await test.files.move("a", to: "b")
            try await test.put("2", at: "end")
            var told: [FileChange] = []
            try await changes.read(&told, upTo: .written("end"))
            #expect(Set(told) == [.removed("a"), .written("b"), .written("end")])
        },
        Self(.watching, "a folder reports only changes of its own files", needs: .watching) {
            test async throws in
            try await test.put("1", at: "a/0")
            let changes = try await test.files.changes(in: "a")
            try await test.put("1", at: "b/1")
            try await test.put("2", at: "a/2")
            var told: [FileChange] = []
            try await changes.read(&told, upTo: .written("a/2"))
            #expect(told == [.written("a/2")])
        },
        Self(
            .watching,
            "the changes end when the task that reads them is canceled",
            needs: .watching
        ) {
            test async throws in
            let changes = try await test.files.changes()
            let task = Task { for await _ in changes {} }
            task.cancel()
            await task.value
        },
    ]
}

extension FileChanges {
    /// Reads changes up to the last one, counting immediate repetitions once.
    fileprivate func read(_ told: inout [FileChange], upTo last: FileChange) async throws {
        for await change in self {
            if told.last != change { told.append(change) }
            if change == last { return }
        }
        throw CancellationError()
    }
}

private actor PieceSource {
    private var pieces: ArraySlice<[UInt8]>

    init(_ pieces: [[UInt8]]) { self.pieces = pieces[...] }

    func next() -> [UInt8]? { pieces.popFirst() }
}
