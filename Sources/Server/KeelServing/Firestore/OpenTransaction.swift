import KeelStorage
internal import KeelStorageAdapting
internal import KeelStorageFirestore

struct OpenTransaction: Sendable {
    enum Phase: Sendable, Hashable {
        case open
        case isBeingCommitted(WritesHash)
        case committed(WritesHash)
    }

    enum Kind: Sendable, Hashable {
        case readWrite
        case readOnly(asOf: Timestamp?)

        var time: Timestamp? { if case .readOnly(let time) = self { time } else { nil } }
    }

    let kind: Kind
    private(set) var phase: Phase
    private(set) var readCount = 0
    /// The moment of a read-only transaction without a given time, chosen by its first read.
    private(set) var moment: ReadMoment?
    /// The position of the store at which all reads were current.
    private(set) var position: ChangeCursor?
    private var documents: [DocumentPath: Revision?] = [:]
    private var queries: [TransactionReads.QueryRead] = []

    init(_ kind: Kind, in phase: Phase = .open, at moment: ReadMoment? = nil) {
        self.kind = kind
        self.phase = phase
        self.moment = moment
    }

    var time: Timestamp? { kind.time ?? moment?.time }

    /// Whether the next read chooses the moment of the transaction.
    var needsMoment: Bool { kind == .readOnly(asOf: nil) && moment == nil && readCount == 0 }

    mutating func read(at moment: ReadMoment) {
        if needsMoment { self.moment = moment }
    }

    /// Enters a phase; a commit discards the reads.
    mutating func enter(_ phase: Phase) {
        self.phase = phase
        guard case .committed = phase else { return }
        documents = [:]
        queries = []
        readCount = 0
        moment = nil
    }

    /// Adds reads; if a document was read twice, the first read counts.
    ///
    /// If it changed in between, the commit fails as required, because revisions never repeat.
    mutating func add(_ reads: TransactionReads) {
        if let position = reads.position { self.position = position }
        for read in reads.documents where documents[read.path] == nil {
            documents[read.path] = .some(read.revision)
            readCount += 1
        }
        for read in reads.queries {
            queries.append(read)
            readCount += 1 + read.found.count
        }
    }

    var reads: TransactionReads {
        TransactionReads(
            documents: documents.map { path, revision in
                TransactionReads.DocumentRead(path: path, revision: revision)
            },
            queries: queries,
            position: position
        )
    }
}

/// A hash by which a repeated commit is recognized, the same on every server.
struct WritesHash: Sendable, Hashable {
    let value: UInt64

    init(value: UInt64) { self.value = value }

    init(_ writes: [DocumentWrite]) throws(StorageError) {
        value = StableHash.of(try RecordedTransaction.encoding.commit(writes).bytes)
    }
}
