internal import KeelStorageAdapting

/// The pages of the log that have arrived since the first read began of those that are under way.
///
/// With too many changes, only the last change of each document is kept. If these are still too many, all are dropped:
/// the reads are repeated, with room for twice as many, up to ``mostDrops`` times.
struct KeptPages {
    /// How often pages may be dropped, and the room doubled, while reads are under way.
    static let mostDrops = 3
    /// The approximate maximum size of documents in the first room, in bytes.
    private static let firstBytes = 16 << 20

    private let mostChanges: Int
    private let mostBytes: Int
    private(set) var pages: [ChangePage] = []
    /// The position before the pages; nil while none are kept.
    private(set) var start: ChangeCursor?
    private(set) var drops = 0
    private var count = 0
    private var size: AnswerSize
    /// The number and the size of the changes after they were condensed; zero before.
    private var condensed = (count: 0, bytes: 0)

    /// Creates an empty room.
    ///
    /// - Parameters:
    ///   - mostChanges: The number of changes in the first room.
    ///   - mostBytes: The maximum size of documents in bytes, also after the room has been doubled.
    init(mostChanges: Int, mostBytes: Int = .max) {
        self.mostChanges = mostChanges
        self.mostBytes = mostBytes
        size = AnswerSize(most: min(Self.firstBytes, mostBytes))
    }

    /// The approximate size of the documents in the pages, in bytes.
    var bytes: Int { size.bytes }

    private var isOver: Bool { count > mostChanges << min(drops, Self.mostDrops) || size.isFull }

    /// Keeps pages from a position on, unless they are kept already.
    mutating func begin(after position: ChangeCursor?) { start = start ?? position }

    /// Forgets the pages, and keeps later ones.
    mutating func restart(after position: ChangeCursor) {
        replace(with: [])
        start = position
    }

    /// Forgets the pages, and keeps no later ones.
    mutating func clear() {
        drops = 0
        replace(with: [])
        start = nil
    }

    /// Keeps a page that follows the others.
    mutating func append(_ page: ChangePage) {
        guard start != nil else { return }
        pages.append(page)
        note(page)
        // Condensing looks through all changes, so that as many new ones have to be worth it.
        let hasDoubled =
            count >= 2 * condensed.count || size.isFull && size.bytes >= 2 * condensed.bytes
        if isOver, hasDoubled { condense() }
        guard isOver else { return }
        drops += 1
        restart(after: page.next)
    }

    /// Replaces the pages by one with the last change of each document.
    private mutating func condense() {
        guard var whole = pages.last else { return }
        var paths: Set<DocumentPath> = []
        let last = pages.flatMap(\.changes).reversed().filter { paths.insert($0.path).inserted }
        whole.changes = last.reversed()
        replace(with: [whole])
        condensed = (count, size.bytes)
    }

    private mutating func replace(with pages: [ChangePage]) {
        self.pages = pages
        count = 0
        condensed = (0, 0)
        size = AnswerSize(most: min(Self.firstBytes << min(drops, Self.mostDrops), mostBytes))
        for page in pages { note(page) }
    }

    private mutating func note(_ page: ChangePage) {
        count += page.changes.count
        for change in page.changes { size.add(change) }
    }
}
