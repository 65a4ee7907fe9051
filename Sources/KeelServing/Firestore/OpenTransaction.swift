import KeelStorage
internal import KeelStorageAdapting

/// A transaction that is under way, or was until a moment ago.
struct OpenTransaction: Sendable {
    /// How far a transaction has come.
    enum Phase: Sendable, Hashable {
        /// It reads.
        case open
        /// A commit is under way: nothing else can be done meanwhile.
        case isBeingCommitted
        /// A commit of writes with this hash has taken effect.
        case committed(Int)
    }

    /// What a transaction may do.
    enum Kind: Sendable, Hashable {
        /// It reads and writes.
        case readWrite
        /// It only reads, as of a time where it names one.
        case readOnly(asOf: Timestamp?)

        /// The time that it names.
        var time: Timestamp? { if case .readOnly(let time) = self { time } else { nil } }
    }

    let kind: Kind
    let begin: Duration
    var lastUse: Duration
    private(set) var phase = Phase.open
    private(set) var readCount = 0
    /// The moment that a transaction reads which names no time and only reads, from its first read on.
    private(set) var moment: ReadMoment?
    /// The position of the store at which all that was read held.
    private(set) var position: ChangeCursor?
    private var documents: [DocumentPath: Revision?] = [:]
    private var queries: [TransactionReads.QueryRead] = []

    init(_ kind: Kind, at moment: ReadMoment? = nil, now: Duration) {
        self.kind = kind
        self.moment = moment
        begin = now
        lastUse = now
    }

    /// The time whose state is read, nil for the present.
    var time: Timestamp? { kind.time ?? moment?.time }

    /// Whether the next read chooses the moment that the transaction reads.
    var needsMoment: Bool { kind == .readOnly(asOf: nil) && moment == nil && readCount == 0 }

    /// Reads at a moment from now on, if another read has not chosen one meanwhile.
    mutating func read(at moment: ReadMoment) {
        if needsMoment { self.moment = moment }
    }

    /// Goes on to another phase; what was read is of no use after the commit.
    mutating func enter(_ phase: Phase) {
        self.phase = phase
        guard case .committed = phase else { return }
        documents = [:]
        queries = []
        readCount = 0
        moment = nil
    }

    /// Adds what was read; of a document that was read twice, the first time counts.
    ///
    /// If it changed in between, the first revision does not hold any more and the commit fails, as
    /// it must: revisions do not come back.
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
