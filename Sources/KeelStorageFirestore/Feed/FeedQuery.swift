internal import KeelStorage

/// The query of a request for changes, put together.
struct FeedQuery: Sendable {
    /// How many collections, and bytes of their names, one request may name.
    private static let mostCollections = 100
    private static let mostBytes = 4_000

    private(set) var text = ""
    /// Whether everything is asked for because the scope has too many collections to name.
    private(set) var isWide = false

    init(scope: ChangeScope, database: String) {
        add("database", database)
        guard case .collections(let collections) = scope else { return }
        let names = collections.sorted().map { Self.encoded($0.string) }
        let size = names.reduce(0) { $0 + $1.utf8.count + 12 }
        guard (1...Self.mostCollections).contains(names.count), size <= Self.mostBytes else {
            isWide = true
            return
        }
        for name in names { text += "&collection=\(name)" }
    }

    mutating func add(_ name: String, _ value: String) {
        if !text.isEmpty { text += "&" }
        text += "\(name)=\(Self.encoded(value))"
    }

    /// Text with every byte encoded that is not unreserved (RFC 3986 section 2.3).
    static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                bytes.append(byte)
            default:
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
}
