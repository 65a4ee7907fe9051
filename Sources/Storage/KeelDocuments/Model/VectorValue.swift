/// A vector of doubles, such as the embedding of a text or an image.
///
/// The type has the same name in Firestore's clients. A property of this type is stored as a vector, which is one
/// value; a property of type `[Double]` is stored as an array of numbers.
///
/// ```swift
/// struct Article: Codable {
///     var title: String
///     var embedding: VectorValue
/// }
/// ```
///
/// A document holds vectors of 1 to ``mostElements`` elements without NaN, and none directly in an array, as in
/// Firestore. Vectors are equal if their elements are stored identically: -0.0 differs from 0.0.
public struct VectorValue: Sendable {
    /// The elements.
    public var elements: [Double]

    /// The maximum number of elements of a stored vector: 2,048, as in Firestore.
    public static let mostElements = 2_048

    /// Creates a vector; writing a document with a vector that is empty, too long or contains NaN fails.
    public init(_ elements: [Double]) { self.elements = elements }

    /// The reason that neither a document nor a query can contain the vector; nil if they can.
    package var flaw: String? {
        if elements.isEmpty { return "a vector needs at least one element" }
        if elements.count > Self.mostElements {
            return "a vector has at most \(Self.mostElements) elements, not \(elements.count)"
        }
        return elements.contains(where: \.isNaN) ? "a vector cannot contain NaN" : nil
    }
}

extension VectorValue: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: Double...) { self.init(elements) }
}

extension VectorValue: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        left.elements.elementsEqual(right.elements) { one, other in
            one.bitPattern == other.bitPattern || one.isNaN && other.isNaN
        }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(elements.count)
        for element in elements { hasher.combine(element.isNaN ? 0 : element.bitPattern) }
    }
}

/// The map that represents a vector in Firestore's protocol.
///
/// The protocol has no kind of value for vectors: `{"__type__": "__vector__", "value": [1.0, 2.0]}`.
extension VectorValue {
    package static let typeName = "__type__"
    private static let type = DocumentValue.string("__vector__")
    private static let elementsName = "value"

    /// The map that represents the vector.
    package var wireFields: DocumentFields {
        [
            Self.typeName: Self.type,
            Self.elementsName: .array(elements.map(DocumentValue.double)),
        ]
    }

    /// Creates the vector that a map represents; nil if the map represents none.
    package init?(wireFields fields: DocumentFields) {
        guard fields.count == 2, fields[Self.typeName] == Self.type,
            case .array(let values)? = fields[Self.elementsName]
        else { return nil }
        let elements = values.compactMap { value -> Double? in
            if case .double(let element) = value { element } else { nil }
        }
        guard elements.count == values.count else { return nil }
        self.init(elements)
    }
}

extension DocumentValue {
    /// Creates a map, or the vector that it represents in Firestore's protocol.
    package init(wireFields fields: DocumentFields) {
        self = VectorValue(wireFields: fields).map(DocumentValue.vector) ?? .map(fields)
    }
}
