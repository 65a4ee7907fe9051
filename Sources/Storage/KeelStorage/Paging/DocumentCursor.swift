internal import KeelCore
internal import KeelDocuments

/// A position in the order of a query's results, directly after a document.
///
/// It holds the document's path and the values of the query's order fields. Its text form can be part of a URL, and is
/// not encrypted: anyone can read the values.
public struct DocumentCursor: Sendable, Hashable {
    /// The orders of the values, in the form `name`, or `-name` for descending.
    private let orders: [String]
    private let values: [DocumentValue]

    /// Creates the position after a document in the result of a query with explicit orders.
    init(behind document: Document, in query: DocumentQuery) {
        orders = query.orders.map(Self.name)
        values = query.bound(of: document, isInclusive: false).values
    }

    /// Returns the query for the results after this position.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if the query has another order.
    func continuing(_ query: DocumentQuery) throws(StorageError) -> DocumentQuery {
        guard orders == query.orders.map(Self.name) else {
            throw StorageError(
                .invalidArgument,
                "the cursor belongs to a query ordered by \(orders.joined(separator: ", ")), but this query "
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
        return Base64.encodeForURL(DocumentBody(fields).bytes)
    }

    /// Parses the text of a cursor; returns nil if it is invalid.
    public init?(_ description: String) {
        guard let bytes = Base64.decode(description),
            let fields = try? DocumentBody(bytes: bytes).fields(),
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
    /// Decodes the cursor's text.
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

    /// Encodes the cursor as text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
