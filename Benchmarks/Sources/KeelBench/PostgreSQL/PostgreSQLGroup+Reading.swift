#if PostgreSQL
import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelStoragePostgreSQL

extension PostgreSQLGroup {
    static func reading(_ pair: Lazily<DatabasePair>, _ options: Options) -> [Measure] {
        let count = options.scaled(40_000)
        let get = Measure(
            name: "get, 8 tasks / prepared statement",
            target: .atLeast(0.9),
            keel: { try await gets(count, tasks: 8, in: pair) },
            peer: { try await pair.value().peer(["get", "8", "\(count)"]) }
        )
        let batch = Measure(
            name: "100 documents in one read / one by one",
            target: .atLeast(8),
            keel: {
                let pair = try await pair.value()
                let paths = pair.paths(count)
                return try await time(count / 100, tasks: 1) { number in
                    let page = Array(paths[number * 100..<number * 100 + 100])
                    let found = try await pair.client.findDocuments(page)
                    guard !found.contains(nil) else { throw Flaw("a document is missing") }
                } / 100
            },
            peer: { try await gets(options.scaled(10_000), tasks: 1, in: pair) }
        )
        let feed = Measure(
            name: "changes in pages of 500, per change / SQL",
            target: .keelAtMost(20),
            keel: { try await changes(options.scaled(50_000), of: try await pair.value()) },
            peer: { try await pair.value().peer(["feed", "\(options.scaled(50_000))"]) }
        )
        return [get, batch, feed]
    }

    @concurrent
    private static func gets(
        _ count: Int,
        tasks: Int,
        in pair: Lazily<DatabasePair>
    ) async throws -> Double {
        let pair = try await pair.value()
        let paths = pair.paths(count)
        return try await time(count, tasks: tasks) { number in
            _ = try await pair.client.getDocument(paths[number])
        }
    }

    /// Returns the microseconds of a change, with its document.
    private static func changes(_ most: Int, of pair: DatabasePair) async throws -> Double {
        var request = ChangeRequest(after: pair.start)
        var count = 0
        let start = ContinuousClock.now
        while count < most {
            let page = try await pair.adapter.changes(request)
            count += page.changes.count
            request.after = page.next
            if page.isCaughtUp { break }
        }
        guard count >= min(most, pair.count) else { throw Flaw("changes are missing") }
        return start.duration(to: .now).microseconds / Double(count)
    }

    // MARK: Listening

    static func listening(_ pair: Lazily<DatabasePair>, _ options: Options) -> [Measure] {
        let count = options.isQuick ? 10 : 500
        func measure(_ name: String, _ quantile: Double, _ limit: Double) -> Measure {
            Measure(
                name: "commit to another adapter's listener, \(name)",
                unit: "ms",
                target: .keelAtMost(limit),
                keel: { try await heard(count, in: try await pair.value()).quantile(quantile) },
                peer: { try await pair.value().peer(["hear", "\(count)", "\(quantile)"]) / 1000 }
            )
        }
        return [measure("p50", 0.5, 3), measure("p99", 0.99, 10)]
    }

    /// Returns the milliseconds from the call that commits a change until another adapter has returned it.
    @concurrent
    private static func heard(_ count: Int, in pair: DatabasePair) async throws -> [Double] {
        let writes = try pair.writes(count)
        let other = try await PostgreSQLStorageAdapter(at: .url(pair.url))
        let start = try await DatabasePair.position(other)
        let (arrivals, arrived) = AsyncStream<ContinuousClock.Instant>.makeStream()
        let listener = Task { @concurrent in
            defer { arrived.finish() }
            var request = ChangeRequest(after: start, waitTimeout: .seconds(10))
            while !Task.isCancelled {
                let page = try await other.changes(request)
                request.after = page.next
                if !page.changes.isEmpty { arrived.yield(.now) }
            }
        }
        var next = arrivals.makeAsyncIterator()
        var figures: [Double] = []
        for write in writes {
            // A single change: the listener waits again.
            try await Task.sleep(for: .milliseconds(2))
            let start = ContinuousClock.now
            try await pair.client.commit([write])
            guard let arrival = await next.next() else { throw Flaw("the listener ended") }
            figures.append(start.duration(to: arrival) / .milliseconds(1))
        }
        listener.cancel()
        await other.close()
        return figures
    }
}
#endif
