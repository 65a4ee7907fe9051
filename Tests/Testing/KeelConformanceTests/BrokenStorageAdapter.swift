import KeelStorage
import KeelStorageAdapting
import Synchronization
import Testing

/// A memory adapter that breaks one promise.
final class BrokenStorageAdapter: StorageAdapter {
    /// The faults, whose checks are listed in `ChecksOfTheChecks`.
    enum Fault: String, CaseIterable, CustomTestStringConvertible {
        case losesLastWriteOfBatch, splitsBatches, appliesTwice, stopsAfterFailedBatch
        case ignoresConditions, forgetsBatchIDs, ignoresReads, ignoresQueryReads
        case turnsResultsRound, ignoresLimits, ignoresOffsets, ignoresProjections
        case ignoresDirections, takesEveryCursorInclusively, ignoresAncestors, ignoresStrictness
        case makesDoublesIntegers, normalizesStrings
        case givesNoPosition, saysCaughtUpAlways, doesNotWait, ignoresScope, skipsLastChange
        case deliversFirstStates, countsEverything, turnsNamesRound, drawsNewTimes
        case ignoresThePast, readsWithoutChecking, tellsCommitTimes, tellsNoTimes, turnsTimeBack
        case missesQueriesOfScopes, forgetsOrigins, acknowledgesNothing
        case forgetsRemovals, tellsNoRemovalTimes, losesRemovalTimes
        case missesDeepDocuments, ordersByCutValues, takesForeignCursors, normalizesIDs

        var testDescription: String { rawValue }
    }

    let fault: Fault
    private let base = InMemoryStorageAdapter(history: .seconds(3600))
    private let firstStates = Mutex<[DocumentPath: Document]>([:])

    init(_ fault: Fault) { self.fault = fault }

    var capabilities: StorageCapabilities { base.capabilities }

    func prepare(_ schema: StorageSchema) async throws(StorageError) {
        try await base.prepare(schema)
    }

    // MARK: Writing

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        var results: [Result<CommitReceipt, StorageError>] = []
        for batch in batches {
            let result = try await commit(batch)
            results.append(result)
            if fault == .stopsAfterFailedBatch, case .failure(let error) = result {
                return results + batches.dropFirst(results.count).map { _ in .failure(error) }
            }
        }
        return results
    }

    private func commit(
        _ batch: WriteBatch
    ) async throws(StorageError) -> Result<CommitReceipt, StorageError> {
        var batch = batch
        batch.writes = batch.writes.map(bent)
        switch fault {
        case .losesLastWriteOfBatch where batch.writes.count > 1: batch.writes.removeLast()
        case .forgetsBatchIDs: batch.id = nil
        case .ignoresReads: batch.reads = nil
        case .forgetsOrigins: batch.origin = nil
        case .ignoresQueryReads: batch.reads?.queries = []
        case .appliesTwice:
            var first = batch
            first.id = nil
            _ = try await base.commit([first])
        case .splitsBatches:
            var last: Result<CommitReceipt, StorageError>?
            for write in batch.writes {
                last = try await base.commit([WriteBatch([write], reads: batch.reads)]).first
                if case .failure? = last { break }
            }
            if let last { return last }
        default: break
        }
        guard let result = try await base.commit([batch]).first else {
            throw StorageError(.unknown, "no result")
        }
        guard fault == .tellsCommitTimes || fault == .losesRemovalTimes else { return result }
        return result.map { receipt in
            var receipt = receipt
            for position in receipt.outcomes.indices {
                if fault == .losesRemovalTimes {
                    guard receipt.outcomes[position].revision == nil else { continue }
                    receipt.outcomes[position].updateTime = nil
                    continue
                }
                receipt.outcomes[position].updateTime = receipt.commitTime
            }
            return receipt
        }
    }

    private func bent(_ write: DocumentWrite) -> DocumentWrite {
        var write = write
        switch (fault, write.operation) {
        case (.ignoresConditions, _): write.condition = .none
        case (.makesDoublesIntegers, .set(let body, let transforms)),
            (.normalizesStrings, .set(let body, let transforms)):
            guard let fields = try? body.fields() else { return write }
            let bent = DocumentFields(fields.map { ($0.name, self.bent($0.value)) })
            write.operation = .set(DocumentBody(bent), transforms: transforms)
        case (.drawsNewTimes, .replicate(let document)): write.operation = .set(document.body)
        default: break
        }
        return write
    }

    private func bent(_ value: DocumentValue) -> DocumentValue {
        switch (fault, value) {
        case (.makesDoublesIntegers, .double(let number)):
            Int64(exactly: number).map { .integer($0) } ?? value
        case (.normalizesStrings, .string(let text)): .string(text == "e\u{301}" ? "\u{e9}" : text)
        default: value
        }
    }

    // MARK: Reading

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        var request = request
        if fault == .ignoresStrictness { request.isStrict = false }
        if fault == .ignoresThePast { request.asOf = nil }
        if fault == .readsWithoutChecking { request.reads = nil }
        switch request.operation {
        case .query(let query): request.operation = .query(bent(query))
        case .aggregate(var query, let aggregations) where fault == .countsEverything:
            query.limit = nil
            request.operation = .aggregate(query, aggregations)
        default: break
        }
        var result = try await base.read(request)
        switch (fault, result.payload) {
        case (.turnsResultsRound, .found(let documents)):
            result.payload = .found(documents.reversed())
        case (.turnsNamesRound, .names(let names)): result.payload = .names(names.reversed())
        case (.normalizesIDs, .found(let documents)):
            result.payload = .found(
                documents.map { document in
                    guard document.id.utf8.elementsEqual("e\u{301}".utf8) else { return document }
                    return Document(
                        path: document.path.collection.document("\u{e9}"),
                        body: document.body,
                        revision: document.revision,
                        createTime: document.createTime,
                        updateTime: document.updateTime
                    )
                }
            )
        case (.givesNoPosition, _): result.position = nil
        case (.missesDeepDocuments, .found(let documents)):
            guard case .query(let query) = request.operation,
                case .everything(let ancestor) = query.scope
            else { break }
            result.payload = .found(documents.filter { $0.path.collection.parent == ancestor })
        case (.ordersByCutValues, .found(let documents)):
            guard case .query(let query) = request.operation else { break }
            result.payload = .found(Self.sorted(documents, byCutValuesOf: query.completeOrders))
        default: break
        }
        return result
    }

    /// Sorts documents by the first bytes of their values.
    private static func sorted(
        _ documents: [Document],
        byCutValuesOf orders: [DocumentQuery.Order]
    ) -> [Document] {
        func key(_ document: Document) -> [UInt8] {
            var key: [UInt8] = []
            for order in orders {
                let value =
                    order.field.isDocumentID ? .reference(document.path) : document[order.field]
                var part: [UInt8] = []
                IndexKey.append(value ?? .null, order.direction, to: &part)
                key += part.prefix(1_502)
            }
            return key
        }
        return documents.sorted { key($0).lexicographicallyPrecedes(key($1)) }
    }

    private func bent(_ query: DocumentQuery) -> DocumentQuery {
        var query = query
        switch fault {
        case .ignoresLimits: query.limit = nil
        case .ignoresOffsets: query.offset = 0
        case .ignoresProjections: query.projection = nil
        case .ignoresDirections: query.orders = query.orders.map { .init($0.field) }
        case .takesEveryCursorInclusively:
            query.start?.isInclusive = true
            query.end?.isInclusive = true
        case .ignoresAncestors:
            switch query.scope {
            case .collection: break
            case .group(let name, _): query.scope = .group(name)
            case .everything: query.scope = .everything()
            }
        default: break
        }
        return query
    }

    // MARK: Changes

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        var request = request
        if fault == .doesNotWait { request.waitTimeout = nil }
        if fault == .ignoresScope { request.scope = .everything }
        if fault == .missesQueriesOfScopes, !request.scope.selections.isEmpty {
            // As if no document ever met the queries.
            request.scope = ChangeScope()
        }
        if fault == .acknowledgesNothing { request.clients = [] }
        var page: ChangePage
        do throws(StorageError) {
            page = try await base.changes(request)
        } catch {
            guard fault == .takesForeignCursors, error.code == .invalidArgument else { throw error }
            request.after = nil
            page = try await base.changes(request)
        }
        switch fault {
        case .saysCaughtUpAlways: page.isCaughtUp = true
        case .tellsNoTimes: page.time = nil
        case .turnsTimeBack: page.time = page.time.map { Timestamp(microseconds: -$0.microseconds) }
        case .forgetsRemovals:
            page.changes.removeAll { if case .removed = $0 { true } else { false } }
        case .tellsNoRemovalTimes:
            page.changes = page.changes.map { change in
                guard case .removed(let path, let revision, _) = change else { return change }
                return .removed(path, revision)
            }
        case .skipsLastChange where page.changes.count > 1: page.changes.removeLast()
        case .deliversFirstStates:
            page.changes = page.changes.map { change in
                guard case .current(let document) = change else { return change }
                return firstStates.withLock { states in
                    let first = states[document.path] ?? document
                    states[document.path] = first
                    return .current(first)
                }
            }
        default: break
        }
        return page
    }
}
