import KeelStorage
internal import KeelStorageAdapting

/// One side of a differential run: an adapter whose results are converted to comparable texts.
struct FuzzedAdapter {
    let adapter: any StorageAdapter
    private var cursor: ChangeCursor?
    private var copy: [DocumentPath: Document] = [:]
    /// The times of states to be read later.
    private var moments: [Timestamp] = []
    /// The time of the last commit of a batch with a server time, in milliseconds since 1970.
    private var lastServerTime: Int64 = 0

    init(_ adapter: some StorageAdapter) { self.adapter = adapter }

    // MARK: Writing

    mutating func commit(_ batches: [FuzzBatch]) async throws -> [String] {
        // Conditions on revisions need the current ones, so batches are committed one by one.
        var lines: [String] = []
        for batch in batches {
            if batch.setsServerTime { try await waitForNextServerTime() }
            defer { if batch.setsServerTime { lastServerTime = Self.milliseconds() } }
            let results = try await adapter.commit([try await resolve(batch)])
            lines += results.map { result in
                switch result {
                case .success(let receipt):
                    receipt.outcomes.map { outcome in
                        (outcome.revision == nil ? "gone" : "there")
                            + outcome.transformResults.map { " \(Self.text($0))" }.joined()
                    }.joined(separator: "; ")
                case .failure(let error): error.code.name
                }
            }
        }
        return lines
    }

    /// Waits until server times, which have millisecond precision, are later than those of earlier batches.
    ///
    /// Two equal times are ordered by the documents' names, and two adapters need not agree on which batches share a
    /// millisecond.
    private func waitForNextServerTime() async throws {
        while Self.milliseconds() <= lastServerTime {
            try await Task.sleep(for: .microseconds(100))
        }
    }

    private static func milliseconds() -> Int64 { Timestamp.now().microseconds / 1_000 }

    private func resolve(_ batch: FuzzBatch) async throws -> WriteBatch {
        var writes: [DocumentWrite] = []
        for write in batch.writes {
            writes.append(
                DocumentWrite(write.path, write.operation, if: try await resolve(write))
            )
        }
        var reads = TransactionReads()
        for (path, isCurrent) in batch.documents {
            let revision = isCurrent ? try await current(path)?.revision : Revision(number: 1)
            reads.documents.append(.init(path: path, revision: revision))
        }
        if let (query, isCurrent) = batch.query {
            let answer = try await adapter.read(ReadRequest(.query(query)))
            guard case .found(let found) = answer.payload else { return WriteBatch(writes) }
            var read = found.map {
                TransactionReads.DocumentRead(path: $0.path, revision: $0.revision)
            }
            if !isCurrent {
                read.append(.init(path: "no/where", revision: Revision(number: 1)))
            }
            reads.queries.append(.init(query: query, found: read))
        }
        return WriteBatch(id: batch.id, writes, reads: reads == TransactionReads() ? nil : reads)
    }

    private func resolve(_ write: FuzzWrite) async throws -> WriteCondition {
        switch write.condition {
        case .plain(let condition): return condition
        case .revision(let isCurrent):
            let revision = isCurrent ? try await current(write.path)?.revision : nil
            return .revision(revision ?? Revision(number: 1))
        case .updateTime(let isCurrent):
            let time = isCurrent ? try await current(write.path)?.updateTime : nil
            return .updateTime(time ?? Timestamp(microseconds: 1))
        }
    }

    private func current(_ path: DocumentPath) async throws -> Document? {
        let answer = try await adapter.read(ReadRequest(.documents([path])))
        guard case .documents(let documents) = answer.payload else { return nil }
        return documents.first ?? nil
    }

    // MARK: Reading

    mutating func remember() async throws {
        var request = ReadRequest(.documents([]))
        request.needsTime = true
        if let time = try await adapter.read(request).time { moments.append(time) }
    }

    /// Reads the present or a remembered state and returns a line for each part of the result.
    func read(
        _ operation: ReadOperation,
        at moment: Int? = nil
    ) async -> (text: [String], plan: QueryPlan?) {
        do throws(StorageError) {
            var request = ReadRequest(operation)
            request.asOf = moment.map { moments[$0] }
            let answer = try await adapter.read(request)
            switch answer.payload {
            case .documents(let documents): return (documents.map(Self.text), nil)
            case .found(let documents): return (documents.map(Self.text), answer.plan)
            case .values(let values): return (values.map(Self.rounded), answer.plan)
            case .names(let names):
                return (names.filter { $0.hasPrefix("fuzz") || $0.count < 2 }, nil)
            }
        } catch {
            return ([error.code.name], nil)
        }
    }

    // MARK: Following

    @discardableResult
    mutating func follow(limit: Int) async throws -> Bool {
        let page = try await adapter.changes(ChangeRequest(after: cursor, limit: limit))
        cursor = page.next
        for change in page.changes {
            if case .current(let document) = change {
                copy[document.path] = document
            } else {
                copy[change.path] = nil
            }
        }
        return page.isCaughtUp
    }

    mutating func catchUp() async throws {
        while try await !follow(limit: 100) {}
    }

    /// Returns the documents that differ between the copy and the adapter; there should be none.
    func flawOfCopy() async throws -> [String] {
        var flaws: [String] = []
        for (path, document) in copy where try await current(path) != document {
            flaws.append("\(path) differs in the copy of \(type(of: adapter))")
        }
        return flaws
    }

    // MARK: Texts

    private static func text(_ document: Document?) -> String {
        guard let document else { return "nothing" }
        guard let fields = try? document.fields() else { return "\(document.path) damaged" }
        return "\(document.path) \(text(.map(fields)))"
    }

    /// Returns a value as text; the times of commits, which differ between adapters, all become one word.
    private static func text(_ value: DocumentValue) -> String {
        switch value {
        case .timestamp(let time) where time.microseconds > 1_500_000_000_000_000: "now"
        case .map(let fields):
            "{" + fields.map { "\(Array($0.name.utf8)): \(text($0.value))" }.joined(separator: ", ")
                + "}"
        case .array(let values): "[" + values.map(text).joined(separator: ", ") + "]"
        case .string(let string): "\"\(string)\"\(string.utf8.count)"
        case .bytes(let bytes): "bytes \(bytes)"
        default: "\(value.kindName) \(value)"
        }
    }

    /// Returns a number as text; doubles are rounded, because adapters may add them in any order.
    private static func rounded(_ value: DocumentValue) -> String {
        guard case .double(let number) = value, number.isFinite, number != 0 else {
            return value == .double(-0.0) ? text(0.0) : text(value)
        }
        return "double \(Float(number))"
    }
}
