internal import KeelDocuments

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A place in the order of a query's results: behind one document.
///
/// It holds the values by which the query orders, and the document's path, which decides between equal
/// ones. What is written before or behind the place does not move it, so that the page after it begins
/// where the one before it ended.
///
/// As text it can go through a URL, into a file or to another process. It is not encrypted: whoever has
/// the text can read the values by which the query orders.
public struct DocumentCursor: Sendable, Hashable {
    /// The orders that the values are of, in the form `name`, or `-name` where they descend.
    private let orders: [String]
    private let values: [DocumentValue]

    /// The place of a document in the results of a query whose orders are written out.
    init(behind document: Document, in query: DocumentQuery) {
        orders = query.orders.map(Self.name)
        values = query.bound(of: document, isInclusive: false).values
    }

    /// The query's results behind this place.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if the cursor is one of another order.
    func continuing(_ query: DocumentQuery) throws(StorageError) -> DocumentQuery {
        guard orders == query.orders.map(Self.name) else {
            throw StorageError(
                .invalidArgument,
                "the cursor is of a query ordered by \(orders.joined(separator: ", ")), and this one "
                    + "is ordered by \(query.orders.map(Self.name).joined(separator: ", "))"
            )
        }
        return query.with { query in
            query.start = DocumentQuery.Bound(values, isInclusive: false)
            query.offset = 0
        }
    }

    private static func name(_ order: DocumentQuery.Order) -> String {
        (order.direction == .descending ? "-" : "") + order.field.description
    }
}

extension DocumentCursor: LosslessStringConvertible {
    /// The cursor as text of letters, digits, “-” and “_”.
    public var description: String {
        let fields: DocumentFields = [
            "o": .array(orders.map(DocumentValue.string)),
            "v": .map(DocumentFields(values.enumerated().map { ("\($0.offset)", $0.element) })),
        ]
        return Data(DocumentBody(fields).bytes).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Reads the text of a cursor; nil if it is something else.
    public init?(_ description: String) {
        let plain = description.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: plain + padding),
            let fields = try? DocumentBody(bytes: Array(data)).fields(),
            let orders = fields["o"]?.arrayValue?.compactMap(\.stringValue),
            let map = fields["v"]?.mapValue
        else { return nil }
        let values = (0..<map.count).compactMap { map["\($0)"] }
        guard !orders.isEmpty, values.count == orders.count else { return nil }
        self.orders = orders
        self.values = values
    }
}

extension DocumentCursor: Codable {
    /// Reads the cursor's text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let cursor = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "the text is not a cursor"
            )
        }
        self = cursor
    }

    /// Writes the cursor's text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
