import KeelStorage

/// The names of documents that come first in an order, behind a place, up to a number.
///
/// With it, the names of a store that do not fit into memory are read in several passes.
struct FirstNames {
    typealias Order = @Sendable (DocumentPath, DocumentPath) -> Bool

    private let most: Int
    private let start: DocumentPath?
    private let precedes: Order
    private var names: Set<DocumentPath> = []
    /// The last name that can still be one of the first.
    private var end: DocumentPath?

    /// Creates an empty list.
    ///
    /// - Parameters:
    ///   - most: How many names are kept.
    ///   - start: The place behind which they are; nil for the beginning.
    ///   - precedes: Whether a name comes before another.
    init(_ most: Int, behind start: DocumentPath?, by precedes: @escaping Order) {
        self.most = most
        self.start = start
        self.precedes = precedes
    }

    /// Takes a name, which may come twice.
    mutating func insert(_ path: DocumentPath) {
        if let start, !precedes(start, path) { return }
        if let end, precedes(end, path) { return }
        names.insert(path)
        if names.count > 2 * most { drop() }
    }

    private mutating func drop() {
        let first = names.sorted(by: precedes).prefix(most)
        names = Set(first)
        end = first.last
    }

    /// The names in their order, and whether there are more behind them.
    var result: (names: [DocumentPath], isCut: Bool) {
        let sorted = names.sorted(by: precedes)
        return (Array(sorted.prefix(most)), end != nil || sorted.count > most)
    }
}

/// Names that stand for all names of documents that were met.
///
/// All are kept up to a number. Of more, a share is kept that the names themselves decide about, so that
/// the same documents lead to the same sample.
struct NameSample {
    private let most: Int
    private var names: Set<DocumentPath> = []
    private var highest = UInt64.max
    /// How many names each one of the sample stands for.
    private(set) var scale = 1

    /// Creates an empty sample of so many names.
    init(_ most: Int) { self.most = most }

    /// The names of the sample, in their order.
    var sorted: [DocumentPath] { names.sorted() }

    /// Takes a name, which may come twice.
    mutating func insert(_ path: DocumentPath) {
        guard Self.mixed(path) <= highest else { return }
        names.insert(path)
        guard names.count > most else { return }
        highest /= 2
        scale *= 2
        names = names.filter { Self.mixed($0) <= highest }
    }

    /// The names of the sample that are among others.
    mutating func keep(_ others: Set<DocumentPath>) { names.formIntersection(others) }

    /// A number that a name always has: FNV-1a, with its high bits mixed by the steps of SplitMix64.
    private static func mixed(_ path: DocumentPath) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in path.string.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        return hash ^ (hash >> 31)
    }
}
