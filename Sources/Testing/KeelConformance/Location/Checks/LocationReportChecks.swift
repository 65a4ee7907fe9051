import KeelLocation
import Testing

extension LocationAdapterCheck {
    package static let order: [Self] = [
        Self(.order, "a hundred fixes arrive in order and once each") { test async throws in
            let reports = try await test.monitor()
            for number in 0..<100 {
                try await test.source.feed(.fix(placeFix(Double(number) / 2, 5, second: number)))
            }
            try await reports.wait("the last fix") { _ in
                reports.fixes.last?.coordinate.latitude == 49.5
            }
            #expect(reports.fixes.map(\.coordinate.latitude) == (0..<100).map { Double($0) / 2 })
        },
        Self(.order, "identical fixes are reported separately", needs: .repeats) {
            test async throws in
            let reports = try await test.monitor()
            for _ in 0..<3 { try await test.fix(placeFix(1, 2), seenBy: reports) }
            #expect(reports.fixes.count == 3)
        },
        Self(.order, "reports never overlap") { test async throws in
            let reports = try await test.monitor()
            try await withThrowingTaskGroup { group in
                for number in 0..<20 {
                    group.addTask {
                        try await test.source.feed(.fix(placeFix(1, Double(number))))
                    }
                }
                try await group.waitForAll()
            }
            try await reports.wait("twenty fixes") { _ in reports.fixes.count == 20 }
            #expect(reports.overlapCount == 0)
        },
        Self(.order, "a live fix is recent") { test async throws in
            let reports = try await test.monitor()
            try await test.fix(placeFix(1, 2), seenBy: reports)
            for case .fix(_, let age) in reports.events { #expect(age < .seconds(5)) }
        },
    ]

    package static let searching: [Self] = [
        Self(.searching, "a source without a position reports a search", needs: .searches) {
            test async throws in
            let reports = try await test.monitor()
            #expect(reports.searchingCount > 0)
            #expect(reports.fixes.isEmpty)
        },
        Self(.searching, "a receiver that loses its position reports a search", needs: .searches) {
            test async throws in
            let reports = try await test.monitor()
            try await test.fix(placeFix(1, 2), seenBy: reports)
            try await lose(test, reports)
            #expect(reports.fixes.count == 1)
            #expect(reports.failures.isEmpty)
        },
        Self(.searching, "fixes resume after a lost position", needs: .searches) {
            test async throws in
            let reports = try await test.monitor()
            for second in 0..<3 {
                let fix = try await test.fix(placeFix(1, 2, second: second), seenBy: reports)
                #expect(fix.coordinate.longitude == 2)
                try await lose(test, reports)
            }
        },
    ]

    private static func lose(_ test: LocationUnderTest, _ reports: LocationReports) async throws {
        let count = reports.searchingCount
        try await test.source.feed(.noFix)
        try await reports.wait("a report of a search") { _ in reports.searchingCount > count }
    }

    package static let sharing: [Self] = [
        Self(.sharing, "each monitor receives each fix") { test async throws in
            var all: [LocationReports] = []
            for _ in 0..<5 { all.append(try await test.monitor()) }
            for number in 0..<10 {
                try await test.source.feed(.fix(placeFix(1, Double(number), second: number)))
            }
            for reports in all {
                try await reports.wait("ten fixes") { _ in reports.fixes.count == 10 }
                #expect(
                    reports.fixes.map(\.coordinate.longitude) == (0..<10).map { Double($0) }
                )
            }
        },
        Self(.sharing, "ending one monitor does not affect the others") { test async throws in
            let first = try await test.monitor()
            let second = try await test.monitor()
            try await test.fix(placeFix(1, 2), seenBy: first)
            try await second.wait("the fix") { _ in !second.fixes.isEmpty }
            first.end()
            let fix = try await test.fix(placeFix(1, 3, second: 1), seenBy: second)
            #expect(fix.coordinate.longitude == 3)
        },
        Self(.sharing, "monitors can run one after another") { test async throws in
            for number in 0..<3 {
                let reports = try await test.monitor()
                let fix = try await test.fix(placeFix(1, Double(number)), seenBy: reports)
                #expect(fix.coordinate.longitude == Double(number))
                reports.end()
                try await test.waitForNoUsers()
            }
        },
    ]

    package static let ending: [Self] = [
        Self(.ending, "an ended monitor receives no more fixes") { test async throws in
            let ended = try await test.monitor()
            let witness = try await test.monitor()
            try await test.fix(placeFix(1, 2), seenBy: witness)
            try await ended.wait("the fix") { _ in ended.fixes.count == 1 }
            ended.end()
            let count = ended.events.count
            for second in 1..<5 {
                try await test.fix(placeFix(1, 3, second: second), seenBy: witness)
            }
            // One event may have been in progress.
            #expect(ended.events.count <= count + 1)
        },
        Self(.ending, "ending twice has no further effect") { test async throws in
            let reports = try await test.monitor()
            let other = try await test.monitor()
            reports.end()
            reports.end()
            try await test.fix(placeFix(1, 2), seenBy: other)
        },
        Self(.ending, "a monitor can be ended before the first report") { test async throws in
            test.start().end()
            try await test.waitForNoUsers()
        },
        Self(.ending, "a monitor can be ended from within a report") { test async throws in
            let reports = test.start { event, reports in
                if case .fix = event { reports.end() }
            }
            try await reports.wait("a first report") { !$0.isEmpty }
            try await test.fix(placeFix(1, 2), seenBy: reports)
            try await test.waitForNoUsers()
        },
        Self(.ending, "the source is not held before monitoring begins") { test async throws in
            _ = await test.adapter.capabilities()
            _ = await test.adapter.permission()
            #expect(await test.source.userCount() == 0)
        },
        Self(.ending, "the source is released after monitoring ends") { test async throws in
            let reports = try await test.monitor()
            try await test.fix(placeFix(1, 2), seenBy: reports)
            #expect(await test.source.userCount() > 0)
            reports.end()
            try await test.waitForNoUsers()
        },
    ]
}
