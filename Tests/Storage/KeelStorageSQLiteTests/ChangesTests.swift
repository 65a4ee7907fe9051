#if SQLite
import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import KeelTestSupport
import Testing

@Suite("The change log")
struct ChangesTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("pages without a cursor return every document and then the log")
    func copies() async throws {
        let adapter = try folder.adapter()
        for number in 0..<25 { try await adapter.set("a/\(number)", ["n": 1]) }
        var request = ChangeRequest(limit: 10)
        var copy: [DocumentPath: Document] = [:]
        var pages = 0
        while true {
            let page = try await adapter.changes(request)
            for change in page.changes {
                switch change {
                case .current(let document): copy[document.path] = document
                case .removed(let path, _, _), .leftScope(let path): copy[path] = nil
                case .unreadable(let document): Issue.record("\(document.error)")
                }
            }
            #expect(request.after.map { $0 <= page.next } ?? true)
            request.after = page.next
            pages += 1
            // Changes during the copy must not be lost.
            if pages == 1 {
                try await adapter.delete("a/24")
                try await adapter.set("a/new", ["n": 2])
                try await adapter.set("a/0", ["n": 3])
            }
            if page.isCaughtUp { break }
        }
        #expect(copy.count == 25)
        #expect(copy["a/0"]?["n"] == 3)
        #expect(copy["a/24"] == nil)
    }

    @Test("a copy of some collections contains all their documents and concurrent changes")
    func copiesCollections() async throws {
        let adapter = try folder.adapter()
        for number in 0..<9 {
            for name in ["z", "other", "a", "m"] { try await adapter.set("\(name)/\(number)", [:]) }
        }
        let scope = ChangeScope.collections(["a", "z", "m", "later", "never"])
        var later: [String] = []
        for limit in [1, 2, 9, 10, 27, 100] {
            var request = ChangeRequest(scope: scope, limit: limit)
            var copy: Set<DocumentPath> = []
            var pages = 0
            while true {
                let page = try await adapter.changes(request)
                #expect(page.changes.count <= limit)
                for change in page.changes {
                    if case .current(let document) = change {
                        copy.insert(document.path)
                    } else {
                        copy.remove(change.path)
                    }
                }
                #expect(request.after.map { $0 < page.next } ?? true)
                request.after = page.next
                pages += 1
                // In a collection that has been copied, in one that has not, and in a new one.
                if pages == 1 {
                    try await adapter.delete("m/0")
                    try await adapter.delete("z/8")
                    try await adapter.set("a/new", [:])
                    try await adapter.set("later/\(limit)", [:])
                }
                if page.isCaughtUp, pages > 1 { break }
            }
            later.append("later/\(limit)")
            let expected =
                (0..<9).flatMap { ["a/\($0)", "m/\($0)", "z/\($0)"] } + ["a/new"] + later
            let missing: Set = ["m/0", "z/8"]
            #expect(
                Set(copy.map(\.string)) == Set(expected).subtracting(missing),
                "pages of \(limit)"
            )
            for path: DocumentPath in ["m/0", "z/8"] { try await adapter.set(path, [:]) }
            try await adapter.delete("a/new")
        }
    }

    @Test("a reader that narrows its scope during a copy misses no wanted document")
    func changesScope() async throws {
        let adapter = try folder.adapter()
        for number in 0..<9 {
            for name in ["a", "b"] { try await adapter.set("\(name)/\(number)", [:]) }
        }
        let some = ChangeScope.collections(["b"])
        let all = try await adapter.changes(ChangeRequest(limit: 4))
        let fewer = try await adapter.allChanges(after: all.next, scope: some, limit: 4)
        let before = all.changes.filter { $0.path.collection == "b" }
        #expect(Set((before + fewer.changes).map(\.path.id)).count == 9)
        let part = try await adapter.changes(ChangeRequest(scope: some, limit: 4))
        let more = try await adapter.allChanges(after: part.next, limit: 4)
        #expect(Set(more.changes.map(\.path)).count == 18)
    }

    @Test("a document that changed often appears once per page in its current state")
    func deduplicates() async throws {
        let adapter = try folder.adapter()
        let start = try await adapter.set("a/1", ["n": 0]).position
        for number in 1..<10 { try await adapter.set("a/1", ["n": .integer(Int64(number))]) }
        try await adapter.set("a/2", [:])
        let receipt = try await adapter.delete("a/2")
        let (changes, next) = try await adapter.allChanges(after: start)
        #expect(changes.map(\.path) == ["a/1", "a/2"])
        guard case .current(let document) = changes[0], case .removed = changes[1]
        else { return fail("unexpected kinds of change") }
        #expect(document["n"] == 9)
        #expect(next == receipt.position)
    }

    @Test("a page names the documents that had states which no page shows", arguments: [1, 2, 100])
    func skippedStates(limit: Int) async throws {
        let adapter = try folder.adapter()
        let start = try await adapter.set("a/0", [:]).position
        for number in 1...2 { try await adapter.set("a/1", ["n": .integer(Int64(number))]) }
        try await adapter.set("a/2", [:])
        try await adapter.set("a/3", [:])
        try await adapter.delete("a/2")
        var request = ChangeRequest(after: start, limit: limit)
        var skipped: Set<DocumentPath> = []
        while true {
            let page = try await adapter.changes(request)
            skipped.formUnion(try #require(page.skipped))
            request.after = page.next
            if page.isCaughtUp { break }
        }
        #expect(skipped == ["a/1", "a/2"])
    }

    @Test("small pages end at the same state")
    func smallPages() async throws {
        let adapter = try folder.adapter()
        let start = try await adapter.set("a/0", [:]).position
        for number in 0..<30 {
            try await adapter.set("a/\(number % 4)", ["n": .integer(Int64(number))])
            if number % 5 == 0 { try await adapter.delete("a/\(number % 4)") }
        }
        var state: [DocumentPath: Document] = [:]
        for change in try await adapter.allChanges(after: start, limit: 1).changes {
            if case .current(let document) = change {
                state[change.path] = document
            } else {
                state[change.path] = nil
            }
        }
        let present = try await adapter.found(DocumentQuery("a")).documents
        #expect(Set(state.values) == Set(present))
    }

    @Test("only collections in scope are reported, and the cursor advances")
    func scope() async throws {
        let adapter = try folder.adapter()
        try await adapter.set("a/1", [:])
        try await adapter.set("b/1", [:])
        let scope = ChangeScope.collections(["b", "unknown"])
        let (changes, next) = try await adapter.allChanges(scope: scope)
        #expect(changes.map(\.path) == ["b/1"])
        try await adapter.set("a/2", [:])
        let page = try await adapter.changes(ChangeRequest(after: next, scope: scope))
        #expect(page.changes.isEmpty)
        #expect(page.next > next)
    }

    @Test("a foreign or invalid cursor has expired")
    func foreignCursor() async throws {
        let adapter = try folder.adapter()
        let other = try await folder.adapter("Other.sqlite").set("a/1", [:])
        for cursor in [try #require(other.position), ChangeCursor(bytes: [1, 2, 3])] {
            let error = await storageError { _ = try await adapter.allChanges(after: cursor) }
            #expect(error?.code == .cursorExpired)
        }
    }

    @Test("a read's position continues without a gap")
    func position() async throws {
        let adapter = try folder.adapter()
        try await adapter.set("a/1", [:])
        var request = ReadRequest(.query(DocumentQuery("a")))
        request.needsPosition = true
        let position = try #require(try await adapter.read(request).position)
        try await adapter.set("a/2", [:])
        #expect(try await adapter.allChanges(after: position).changes.map(\.path) == ["a/2"])
    }

    @Test("a wait ends with a commit of the same adapter")
    func wakesLocally() async throws {
        let adapter = try folder.adapter { $0.pollInterval = .seconds(3_600) }
        let start = try await adapter.set("a/1", [:]).position
        async let page = adapter.changes(ChangeRequest(after: start, waitTimeout: .seconds(3_600)))
        try await adapter.set("a/2", [:])
        #expect(try await page.changes.map(\.path) == ["a/2"])
    }

    @Test("a wait ends with a commit of another connection")
    func wakesForeign() async throws {
        let adapter = try folder.adapter { $0.pollInterval = .milliseconds(2) }
        let other = try folder.adapter()
        let start = try await adapter.set("a/1", [:]).position
        async let page = adapter.changes(ChangeRequest(after: start, waitTimeout: .seconds(3_600)))
        try await other.set("a/2", [:])
        #expect(try await page.changes.map(\.path) == ["a/2"])
    }

    @Test("a wait ends at its timeout or when its task is canceled")
    func stopsWaiting() async throws {
        let adapter = try folder.adapter { $0.pollInterval = .milliseconds(1) }
        let start = try await adapter.set("a/1", [:]).position
        let page = try await adapter.changes(
            ChangeRequest(after: start, waitTimeout: .milliseconds(5))
        )
        #expect(page.changes.isEmpty && page.isCaughtUp)
        let task = Task {
            try await adapter.changes(ChangeRequest(after: start, waitTimeout: .seconds(3_600)))
        }
        task.cancel()
        #expect(await storageError { _ = try await task.value }?.code == .cancelled)
    }
}
#endif
