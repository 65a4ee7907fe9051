#if os(Linux) || os(macOS)
import Foundation
import KeelTestSupport
import Testing

@testable import KeelFiles

@Suite("Local store with many files", .timeLimit(.minutes(10)))
struct LargeFolderTests {
    private let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder() }

    private func adapter(_ names: ListedNames) throws -> LocalFileStoreAdapter {
        try LocalFileStoreAdapter(folder: scratch.path + "/store", names: names)
    }

    private func make(_ name: String) {
        let path = scratch.path + "/store/" + name
        #expect(FileManager.default.createFile(atPath: path, contents: Data()))
    }

    /// Returns all files, page by page, with an action between the pages.
    private func pass(
        _ adapter: LocalFileStoreAdapter,
        between: (Int) -> Void = { _ in }
    ) async throws -> [String] {
        let files = FileStore(adapter)
        var paths: [String] = []
        var cursor: FileCursor?
        var number = 0
        repeat {
            let page = try await files.list(after: cursor, limit: 100)
            paths += page.files.map(\.path.string)
            cursor = page.next
            between(number)
            number += 1
        } while cursor != nil
        return paths
    }

    @Test("A folder's names are read once for all pages of a listing")
    func pages() async throws {
        let names = ListedNames(settling: -1)
        let store = try adapter(names)
        try FileManager.default.createDirectory(
            atPath: scratch.path + "/store/f",
            withIntermediateDirectories: false
        )
        for number in 0..<2_000 { make("\(number)") }
        for number in 0..<50 { make("f/\(number)") }
        let paths = try await pass(store)
        let expected = (0..<2_000).map(String.init) + (0..<50).map { "f/\($0)" }
        #expect(paths == expected.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        // Once, and the small subfolder for each page that contains it.
        #expect(names.readCount <= 4)
        let before = names.readCount
        #expect(try await pass(store).count == 2_050)
        #expect(names.readCount <= before + 4)
    }

    @Test("A folder that changes between pages is read again, and nothing is listed twice")
    func changes() async throws {
        for settling in [-1, ListedNames.usualSettling] {
            let store = try adapter(ListedNames(settling: settling))
            for number in 0..<1_500 { make("a\(number)") }
            // After the cursor, so the listing contains it in any case.
            let paths = try await pass(store) { number in
                guard number == 3 else { return }
                make("z\(settling)")
                // Volumes have a limited timestamp resolution: without this, the folder might show no change yet.
                try? FileManager.default.setAttributes(
                    [.modificationDate: Date.now.addingTimeInterval(60)],
                    ofItemAtPath: scratch.path + "/store"
                )
            }
            #expect(Set(paths).count == paths.count)
            #expect(paths.contains("z\(settling)"))
        }
    }
}
#endif
