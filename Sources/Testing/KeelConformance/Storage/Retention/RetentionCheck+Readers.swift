internal import KeelStorage
internal import KeelStorageAdapting
import Testing

extension RetentionCheck {
    /// Drops everything that no reader needs.
    private static func shortest(_ age: Duration = RetentionRun.day * 5) -> LogRetention {
        LogRetention(age: age, bytes: 0, tombstoneAge: age, tombstoneBytes: 0)
    }

    static let readers = [
        Self(
            "the log keeps unread changes of a registered reader for its lifetime",
            shortest(RetentionRun.day * 100)
        ) { store in
            let start = try await store.set("a/0")
            try await store.adapter.registerReader(
                "sync",
                at: start,
                lifetime: RetentionRun.day * 10
            )
            for number in 1...20 { try await store.set("a/\(number)") }
            for passed in 1...9 {
                try await store.pass(RetentionRun.day, steps: 1)
                #expect(
                    try await store.changes(after: start)?.count == 20,
                    "after \(passed) days"
                )
            }
            try await store.pass(RetentionRun.day * 3, steps: 3)
            #expect(try await store.changes(after: start) == nil)
            let error = await #expect(throws: StorageError.self) {
                try await store.adapter.registerReader("sync", at: start, lifetime: .seconds(1))
            }
            #expect(error?.code == .cursorExpired)
        },
        Self("the name of a registered reader has at most 1,500 bytes") { store in
            let start = try await store.set("a/0")
            let name = String(repeating: "x", count: 1_500)
            try await store.adapter.registerReader(name, at: start, lifetime: RetentionRun.day)
            let error = await #expect(throws: StorageError.self) {
                try await store.adapter.registerReader(
                    name + name,
                    at: start,
                    lifetime: RetentionRun.day
                )
            }
            #expect(error?.code == .invalidArgument)
        },
        Self(
            "a stalled reader holds the log only for the retention age and its lifetime",
            shortest()
        ) { store in
            let start = try await store.set("a/0")
            var held = 0
            for passed in 0..<30 {
                do throws(StorageError) {
                    try await store.adapter.registerReader(
                        "sync",
                        at: start,
                        lifetime: RetentionRun.day * 10
                    )
                } catch {
                    #expect(error.code == .cursorExpired)
                    break
                }
                held = passed
                try await store.set("a/\(passed)")
                try await store.set("a/\(passed + 1)", passed)
                try await store.adapter.trim()
                store.wall.move(by: RetentionRun.day)
            }
            #expect((14...17).contains(held))
        },
        Self("an unregistered reader does not hold the log", shortest()) { store in
            let start = try await store.set("a/0")
            try await store.adapter.registerReader("sync", at: start, lifetime: RetentionRun.day)
            for number in 1...5 { try await store.set("a/\(number)") }
            try await store.adapter.trim()
            #expect(try await store.changes(after: start)?.count == 5)
            try await store.adapter.unregisterReader("sync")
            try await store.adapter.trim()
            #expect(try await store.changes(after: start) == nil)
        },
        Self(
            "a request with a reader registers it, and a zero lifetime unregisters it",
            shortest()
        ) { store in
            let start = try await store.set("a/0")
            var request = ChangeRequest(after: start)
            request.reader = ChangeReader("copy")
            _ = try await store.adapter.changes(request)
            for number in 1...5 { try await store.set("a/\(number)") }
            try await store.adapter.trim()
            let page = try await store.adapter.changes(request)
            #expect(page.changes.count == 5)
            request.reader = ChangeReader("copy", lifetime: .zero)
            request.after = page.next
            _ = try await store.adapter.changes(request)
            for number in 6...7 { try await store.set("a/\(number)") }
            try await store.adapter.trim()
            #expect(try await store.changes(after: start) == nil)
            #expect(try await store.changes(after: page.next) == nil)
            // A name that is too long is ignored, and the page is returned nevertheless.
            request.after = nil
            request.reader = ChangeReader(String(repeating: "x", count: 1_000))
            #expect(try await store.adapter.changes(request).changes.count == 8)
        },
        Self("a slow copy without a name has to start over", shortest(.zero)) { store in
            let copied = try await copy(store, as: nil)
            #expect(copied == nil)
        },
        Self("a slow copy that names itself ends, and equals the store", shortest(.zero)) { store in
            let copied = try #require(try await copy(store, as: ChangeReader("copy")))
            let stored = try #require(try await store.changes(after: nil))
            #expect(copied.count == stored.count)
            for change in stored {
                guard case .current(let document) = change else { continue }
                #expect(copied[document.path] == document)
            }
        },
    ]

    /// Copies a store in small pages, each of which takes an hour with writes meanwhile.
    ///
    /// - Returns: The copy; nil if its cursor has expired.
    private static func copy(
        _ store: RetentionRun,
        as reader: ChangeReader?
    ) async throws -> [DocumentPath: Document]? {
        for number in 0..<300 { try await store.set("a/\(number)") }
        var request = ChangeRequest(limit: 10)
        request.reader = reader
        var copy: [DocumentPath: Document] = [:]
        for turn in 0..<500 {
            let page: ChangePage
            do throws(StorageError) { page = try await store.adapter.changes(request) } catch {
                #expect(error.code == .cursorExpired)
                return nil
            }
            for change in page.changes {
                if case .current(let document) = change {
                    copy[change.path] = document
                } else {
                    copy[change.path] = nil
                }
            }
            request.after = page.next
            if page.isCaughtUp { return copy }
            store.wall.move(by: RetentionRun.hour)
            for number in 0..<3 {
                try await store.set("a/\((turn * 37 + number * 101) % 300)", turn + 1)
            }
            try await store.delete("a/\(turn * 53 % 300)")
            try await store.set("a/new\(turn)")
            try await store.adapter.trim()
        }
        Issue.record("the copy does not end")
        return nil
    }
}
