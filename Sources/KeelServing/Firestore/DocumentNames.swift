import KeelStorage

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

    /// A number that a name always has: FNV-1a, with its high bits mixed by the steps of SplitMix64.
    private static func mixed(_ path: DocumentPath) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in path.string.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        return hash ^ (hash >> 31)
    }
}
