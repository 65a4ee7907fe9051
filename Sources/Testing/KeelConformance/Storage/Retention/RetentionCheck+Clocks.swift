internal import KeelStorage
internal import KeelStorageAdapting
import Testing

/// Stores whose clock is set to other years and back.
extension RetentionCheck {
    private static let month = LogRetention(
        age: RetentionRun.day * 30,
        tombstoneAge: RetentionRun.day * 30
    )

    static let clocks = [
        Self("a clock set to 2040 and back trims nothing early and keeps nothing forever", month) {
            store in
            let start = try await store.set("a/0")
            try await store.apply(RetentionRun.counter)
            try await store.adapter.registerReader("sync", at: start, lifetime: RetentionRun.day)
            try await store.adapter.trim()
            store.wall.move(by: RetentionRun.leap)
            try await store.set("a/2")
            try await store.adapter.trim()
            store.wall.move(by: .zero - RetentionRun.leap)
            try await store.set("a/3")
            try await store.adapter.trim()
            #expect(try await store.changes(after: start)?.count == 3)
            try await store.apply(RetentionRun.counter)
            #expect(try await store.count() == 1)
            // Days that pass one by one age everything, including data written in the wrong year.
            try await store.pass(RetentionRun.day * 32, steps: 32)
            try await store.set("a/4")
            try await store.adapter.trim()
            #expect(try await store.changes(after: start) == nil)
            try await store.apply(RetentionRun.counter)
            #expect(try await store.count() == 2)
        },
        Self(
            "a clock that leaps again and again trims nothing early and removes no reader",
            .init(tombstoneAge: RetentionRun.day * 30)
        ) { store in
            let start = try await store.set("a/0")
            try await store.apply(RetentionRun.counter)
            let week = RetentionRun.day * 7
            try await store.adapter.registerReader("sync", at: start, lifetime: week)
            // Forty hours, in which the clock is forty times in each of two wrong years.
            for round in 0..<40 {
                for leap in [RetentionRun.leap, RetentionRun.day * -365 * 56] {
                    store.wall.move(by: leap)
                    try await store.set("a/\(round)", Int(leap / RetentionRun.day))
                    try await store.adapter.trim()
                    store.wall.move(by: .zero - leap)
                    try await store.adapter.trim()
                }
                store.wall.move(by: RetentionRun.hour)
                try await store.set("a/\(round)", 0)
            }
            try await store.adapter.trim()
            let changes = try #require(try await store.changes(after: start))
            #expect(Set(changes.map(\.path)).count == 40)
            try await store.apply(RetentionRun.counter)
            #expect(try await store.count() == 0)
            // Data written in the wrong years ages like the rest.
            try await store.pass(RetentionRun.day * 32, steps: 32)
            try await store.set("a/2", 1)
            try await store.adapter.trim()
            #expect(try await store.changes(after: start) == nil)
            try await store.apply(RetentionRun.counter)
            #expect(try await store.count() == 1)
        },
        Self(
            "a clock that leaps every hour removes no receipt within a week",
            .init(bytes: 0, tombstoneBytes: 0)
        ) { store in
            try await store.apply(RetentionRun.counter)
            for passed in 0..<7 * 24 {
                for leap in [RetentionRun.leap, .zero - RetentionRun.leap] {
                    store.wall.move(by: leap)
                    try await store.set("b/0", passed)
                    try await store.adapter.trim()
                    try await store.apply(RetentionRun.counter)
                }
                #expect(
                    try await store.count() == 1,
                    "the batch was forgotten after \(passed) hours"
                )
                store.wall.move(by: RetentionRun.hour)
            }
            try await store.pass(RetentionRun.hour * 26, steps: 26)
            try await store.apply(RetentionRun.counter)
            #expect(try await store.count() == 2)
        },
        Self(
            "a clock that leaps removes no reader within its lifetime",
            .init(
                age: RetentionRun.day * 100,
                bytes: 0,
                tombstoneAge: RetentionRun.day * 100,
                tombstoneBytes: 0
            )
        ) { store in
            let start = try await store.set("a/0")
            try await store.adapter.registerReader("day", at: start, lifetime: RetentionRun.day)
            for number in 1...20 {
                for leap in [RetentionRun.leap, .zero - RetentionRun.leap] {
                    store.wall.move(by: leap)
                    try await store.set("a/\(number)", leap < .zero ? 1 : 2)
                    try await store.adapter.trim()
                    store.wall.move(by: .seconds(600))
                    try await store.adapter.trim()
                }
            }
            #expect(try await store.changes(after: start)?.count == 20)
        },
        Self(
            "the history outlasts leaps of the clock, and goes when it is old",
            history: RetentionRun.hour
        ) { store in
            let client = StorageClient(store.adapter)
            try await store.set("a/b", 1)
            let time = try await client.currentTime()
            for number in 2...40 {
                let leap =
                    number.isMultiple(of: 2) ? RetentionRun.leap : RetentionRun.day * -365 * 56
                store.wall.move(by: leap)
                for turn in 0..<3 {
                    try await store.set("a/b", number * 10 + turn)
                    store.wall.move(by: .seconds(10))
                }
                try await store.adapter.trim()
                #expect(try await client.asOf(time).getDocument("a/b")["n"] == 1)
                store.wall.move(by: .zero - leap)
                try await store.set("a/b", number)
                #expect(try await client.asOf(time).getDocument("a/b")["n"] == 1)
            }
            // After these twenty minutes, two more hours make everything old.
            for number in 0..<120 {
                store.wall.move(by: .seconds(60))
                try await store.set("a/b", number)
            }
            let error = await #expect(throws: StorageError.self) {
                try await client.asOf(time).getDocument("a/b")
            }
            #expect(error?.code == .snapshotTooOld)
        },
    ]
}
