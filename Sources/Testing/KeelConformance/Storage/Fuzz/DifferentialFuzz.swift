internal import KeelStorage
public import KeelStorageAdapting
public import KeelTestKit
internal import Testing

/// A run of random operations on two adapters, which must give the same results.
///
/// The run compares documents, orders, bodies, error codes, and the results of transforms and aggregates. Times and
/// revisions may differ. Indexes are declared during the run, many of them suggested by a preceding query. The run
/// uses only capabilities that both adapters have.
///
/// ```swift
/// @Test func agrees() async throws {
///     try await DifferentialFuzz().run(InMemoryStorageAdapter(), against: MyStorageAdapter())
/// }
/// ```
///
/// The seed is printed and included in the issue that a difference records. Set the environment variable `KEEL_SEED`
/// to the seed to reproduce the difference, with adapters that do not contain the documents of an earlier run.
public struct DifferentialFuzz: Sendable {
    /// The seed of the random operations.
    public let seed: UInt64
    /// The number of writes, reads and index declarations; the last step may exceed it.
    public let operations: Int
    private let omissions: Set<Omission>

    /// Creates a run.
    public init(seed: UInt64 = SeededRandom.chosenSeed(), operations: Int = 20_000) {
        self.init(seed: seed, operations: operations, omitting: [])
    }

    /// Creates a run that leaves out what one of the adapters does not have.
    package init(
        seed: UInt64 = SeededRandom.chosenSeed(),
        operations: Int = 20_000,
        omitting omissions: Set<Omission>
    ) {
        self.seed = seed
        self.operations = operations
        self.omissions = omissions
    }

    /// Runs the operations until all are done or two results differ.
    ///
    /// - Returns: A summary of the operations.
    /// - Throws: An error of an adapter other than a refused batch or a failed read, which the run compares.
    @discardableResult
    public func run(
        _ one: some StorageAdapter,
        against other: some StorageAdapter
    ) async throws -> FuzzSummary {
        print("DifferentialFuzz: seed \(seed)")
        let source = FuzzSource(seed: seed, name: "fuzz\(seed)", omitting: omissions)
        var run = FuzzRun(source: source, FuzzedAdapter(one), FuzzedAdapter(other))
        try await run.prepare()
        var step = 0
        while run.summary.operations < operations {
            step += 1
            // An adapter that never suspends would block other tests.
            await Task.yield()
            if let difference = try await run.step() {
                Issue.record("seed \(seed), step \(step): \(difference)")
                return run.summary
            }
        }
        if let difference = try await run.finish() {
            Issue.record("seed \(seed), at the end: \(difference)")
        }
        print("DifferentialFuzz: seed \(seed): \(run.summary)")
        return run.summary
    }
}

struct FuzzRun {
    var source: FuzzSource
    private(set) var summary = FuzzSummary()
    private var one: FuzzedAdapter
    private var other: FuzzedAdapter
    private var batchIDs: [String] = []
    private var indexCount = 0
    private var momentCount = 0
    private var indexedQueries: [DocumentQuery] = []
    private let capabilities: StorageCapabilities

    init(source: FuzzSource, _ one: FuzzedAdapter, _ other: FuzzedAdapter) {
        self.source = source
        self.one = one
        self.other = other
        capabilities = one.adapter.capabilities.intersection(other.adapter.capabilities)
    }

    mutating func prepare() async throws {
        guard capabilities.contains(.textSearch) else { return }
        let search = SearchDefinition(source.name, fields: ["text", "a", "l"])
        for adapter in [one.adapter, other.adapter] {
            try await adapter.prepare(StorageSchema(searches: [search]))
        }
    }

    /// Commits batches and runs reads; returns the first difference.
    mutating func step() async throws -> String? {
        let batches = (0..<source.random.number(1...3)).map { _ in
            offered(source.batch(repeating: &batchIDs))
        }
        summary.operations += batches.reduce(0) { $0 + $1.writes.count }
        summary.batches += batches.count
        var outcomes: [String] = []
        let difference = try await compare("commit \(batches)") { adapter in
            outcomes = try await adapter.commit(batches)
            return outcomes
        }
        if let difference { return difference }
        summary.refusedBatches += outcomes.count { !$0.hasPrefix("there") && !$0.hasPrefix("gone") }
        for _ in 0..<source.random.number(1...3) {
            summary.operations += 1
            let operation = read()
            let moment = try await moment()
            let place = moment.map { " at moment \($0)" } ?? ""
            var plan: QueryPlan?
            var text: [String] = []
            let difference = try await compare("read\(place) \(operation)") { adapter in
                let answer = await adapter.read(operation, at: moment)
                plan = answer.plan
                text = answer.text
                return text
            }
            if let difference { return difference }
            summary.reads += 1
            if moment != nil, !text.isEmpty { summary.pastReads += 1 }
            if !text.isEmpty { summary.answeredReads += 1 }
            if case .index? = plan?.access { summary.indexedReads += 1 }
            if let suggestion = plan?.suggestion, source.random.hits(1, in: 4),
                try await declare(suggestion), case .query(let query) = operation
            {
                // The query is repeated while the documents change under the index.
                indexedQueries.append(query)
            }
        }
        if source.random.hits(1, in: 60) { _ = try await declare(source.index()) }
        if capabilities.contains(.changeLog) {
            let limit = source.random.number(1...20)
            try await one.follow(limit: limit)
            try await other.follow(limit: limit)
        }
        return nil
    }

    /// Compares all remaining documents and the copies built from the change logs.
    mutating func finish() async throws -> String? {
        for collection in source.collections {
            let query = try QueryValidation.checked(DocumentQuery(collection))
            let difference = try await compare("read all of \(collection)") {
                await $0.read(.query(query)).text
            }
            if let difference { return difference }
        }
        guard capabilities.contains(.changeLog) else { return nil }
        try await one.catchUp()
        try await other.catchUp()
        return try await compare("the copy from the change log") { try await $0.flawOfCopy() }
    }

    /// Returns the index of the past moment to read at; nil is the present.
    private mutating func moment() async throws -> Int? {
        guard capabilities.contains(.pointInTimeReads) else { return nil }
        if source.random.hits(1, in: 8) {
            try await one.remember()
            try await other.remember()
            momentCount += 1
        }
        guard momentCount > 0, source.random.hits(1, in: 4) else { return nil }
        // Usually a late moment, because the early states are nearly empty.
        return source.random.number(max(0, momentCount - 20)...momentCount - 1)
    }

    private mutating func declare(_ index: IndexDefinition) async throws -> Bool {
        // Each write updates every index, so a few dozen indexes make each step slow.
        guard capabilities.contains(.declaredIndexes), indexCount < 24 else { return false }
        indexCount += 1
        summary.operations += 1
        try await one.adapter.prepare(StorageSchema(indexes: [index]))
        try await other.adapter.prepare(StorageSchema(indexes: [index]))
        return true
    }

    /// Removes the parts of a batch that either adapter does not support.
    private func offered(_ batch: FuzzBatch) -> FuzzBatch {
        var batch = batch
        if !capabilities.contains(.idempotentCommits) { batch.id = nil }
        if !capabilities.contains(.transactions) { (batch.documents, batch.query) = ([], nil) }
        return batch
    }

    private mutating func read() -> ReadOperation {
        if !indexedQueries.isEmpty, source.random.hits(2, in: 5) {
            var query = source.random.pick(indexedQueries)
            if source.random.hits(1, in: 2) { query.limit = .first(source.random.number(1...6)) }
            if capabilities.contains(.aggregation), source.random.hits(1, in: 4) {
                return .aggregate(query, source.aggregations())
            }
            return .query(query)
        }
        while true {
            switch source.random.number(0...11) {
            case 0: return .documents((0..<3).map { _ in source.path() })
            case 1 where capabilities.contains(.collectionListing):
                return .collections(under: source.random.hits(1, in: 2) ? source.path() : nil)
            case 2...3 where capabilities.contains(.aggregation):
                guard let query = source.query() else { continue }
                let aggregations = source.aggregations()
                if !source.omits(query, aggregations) { return .aggregate(query, aggregations) }
            case 4 where capabilities.contains(.textSearch):
                if let query = source.search() { return .query(query) }
            default:
                if let query = source.query() { return .query(query) }
            }
        }
    }

    private mutating func compare(
        _ what: @autoclosure () -> String,
        _ body: (inout FuzzedAdapter) async throws -> [String]
    ) async throws -> String? {
        let first = try await body(&one)
        let second = try await body(&other)
        guard first != second else { return nil }
        // The operation comes last, because it may exceed the shown length of an issue.
        return """
            first:  \(first.joined(separator: "\n        "))
            second: \(second.joined(separator: "\n        "))
            after \(what())
            """
    }
}

/// A summary of a differential run, which shows how many operations were effective.
public struct FuzzSummary: Sendable, Hashable, CustomStringConvertible {
    /// The number of writes, reads and index declarations.
    public internal(set) var operations = 0
    /// The number of batches, including the refused ones.
    public internal(set) var batches = 0
    /// The number of batches that both adapters refused.
    public internal(set) var refusedBatches = 0
    /// The number of reads.
    public internal(set) var reads = 0
    /// The number of reads that did not return an empty list; failed reads and reads of missing documents count.
    public internal(set) var answeredReads = 0
    /// The number of these reads that were of the past.
    public internal(set) var pastReads = 0
    /// The number of reads that the second adapter answered from a declared index.
    public internal(set) var indexedReads = 0

    public var description: String {
        "\(operations) operations: \(batches) batches, of which \(refusedBatches) refused; "
            + "\(reads) reads, of which \(answeredReads) found something (\(pastReads) of them in the "
            + "past) and \(indexedReads) used an index"
    }
}
