internal import KeelStorage
internal import KeelStorageAdapting
import Testing

extension RetentionCheck {
    static let log = [
        Self(
            "a cursor beyond the bytes for last changes expires, and later ones go on",
            .init(bytes: 0, tombstoneBytes: 10 * 42)
        ) { store in
            let start = try await store.set("a/10")
            var middle = start
            for number in 11...40 {
                let cursor = try await store.set("a/\(number)")
                if number == 30 { middle = cursor }
            }
            try await store.adapter.trim()
            #expect(try await store.changes(after: start) == nil)
            #expect(try await store.changes(after: middle)?.count == 10)
            // The remedy that the error names.
            #expect(try await store.changes(after: nil)?.count == 31)
        },
        Self("a reader absent for months gets each document and each removal once") { store in
            for number in 0..<60 { try await store.set("a/\(number)") }
            let cursor = try await store.set("a/0", 1)
            // Twenty are changed daily, twenty removed at some time, ten removed and created again.
            for round in 1...90 {
                for id in 0..<20 { try await store.set("a/\(id)", round + 1) }
                if round.isMultiple(of: 4) { try await store.delete("a/\(19 + round / 4)") }
                if round.isMultiple(of: 9) {
                    try await store.delete("a/\(49 + round / 9)")
                    try await store.set("a/\(49 + round / 9)", round)
                }
                store.wall.move(by: RetentionRun.day)
                try await store.adapter.trim()
            }
            var states: [DocumentPath: Bool] = [:]
            for change in try #require(try await store.changes(after: cursor)) {
                if case .removed = change {
                    states[change.path] = false
                } else {
                    states[change.path] = true
                }
            }
            #expect(states.values.count { $0 } == 30)
            #expect(states.values.count { !$0 } == 22)
            // After the age of removals, the reader starts again.
            try await store.pass(RetentionRun.day * 100, steps: 100)
            #expect(try await store.changes(after: cursor) == nil)
        },
    ]

    static let receipts = [
        Self(
            "a repeated batch is recognized after any number of changes",
            .init(age: .seconds(100), bytes: 200, tombstoneAge: .seconds(100), tombstoneBytes: 0)
        ) { store in
            let receipt = try await store.apply(RetentionRun.counter)
            for number in 0..<200 { try await store.set("b/\(number % 3)", number) }
            try await store.pass(.seconds(600), steps: 20)
            #expect(try await store.apply(RetentionRun.counter).commitTime == receipt.commitTime)
            #expect(try await store.count() == 1)
        },
        Self(
            "receipts are removed only after their own age",
            .init(bytes: 200, receiptAge: .seconds(1_000))
        ) { store in
            try await store.apply(RetentionRun.counter)
            try await store.pass(.seconds(990), steps: 10)
            try await store.apply(RetentionRun.counter)
            #expect(try await store.count() == 1)
            // A quarter more, for clocks that jump.
            try await store.pass(.seconds(400), steps: 10)
            try await store.apply(RetentionRun.counter)
            #expect(try await store.count() == 2)
        },
        Self("a repeated batch that changed nothing is recognized after a quiet time") { store in
            try await store.set("b/1")
            // Nothing to delete, for longer than receipts are kept.
            func delete(on day: Int) async throws {
                try await store.apply(WriteBatch(id: "\(day)", [DocumentWrite("a/1", .delete)]))
            }
            for day in 1...9 {
                store.wall.move(by: RetentionRun.day)
                try await delete(on: day)
                try await store.adapter.trim()
            }
            try await store.set("a/1", 1)
            try await store.adapter.trim()
            try await delete(on: 9)
            #expect(try await store.count() == 1)
        },
    ]
}
