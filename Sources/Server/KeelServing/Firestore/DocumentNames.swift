import KeelStorage

/// A sample of document names.
///
/// The sample contains all names up to a maximum number. Above it, the hashes of the names determine which of them are
/// included, so the same documents always give the same sample.
struct NameSample {
    private let most: Int
    private var names: Set<DocumentPath> = []
    private var highest = UInt64.max
    /// The number of names that each name of the sample represents.
    private(set) var scale = 1

    init(_ most: Int) { self.most = most }

    var sorted: [DocumentPath] { names.sorted() }

    /// Adds a name; duplicates are ignored.
    mutating func insert(_ path: DocumentPath) {
        guard Self.mixed(path) <= highest else { return }
        names.insert(path)
        guard names.count > most else { return }
        highest /= 2
        scale *= 2
        names = names.filter { Self.mixed($0) <= highest }
    }

    /// Returns a deterministic hash: FNV-1a, with the high bits mixed by the steps of SplitMix64.
    private static func mixed(_ path: DocumentPath) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in path.string.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        return hash ^ (hash >> 31)
    }
}
