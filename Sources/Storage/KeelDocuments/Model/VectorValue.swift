/// A vector of doubles, such as the embedding of a text or an image.
///
/// A property of this type is stored as a vector, one of type `[Double]` as an array of numbers.
///
/// ```swift
/// struct Article: Codable {
///     var title: String
///     var embedding: VectorValue
/// }
/// ```
///
/// As in Firestore, a stored vector has 1 to ``mostElements`` elements, none of them NaN, and is not directly in an
/// array. Vectors are equal if their elements are stored identically: -0.0 differs from 0.0.
public struct VectorValue: Sendable {
    /// The elements.
    public var elements: [Double]

    /// The maximum number of elements: 2,048.
    public static let mostElements = 2_048

    /// Creates a vector; writing an invalid one fails.
    public init(_ elements: [Double]) { self.elements = elements }

    /// The vector's error; nil if it is valid.
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

/// The map that represents a vector in Firestore's protocol: `{"__type__": "__vector__", "value": [1.0, 2.0]}`.
extension VectorValue {
    package static let typeName = "__type__"
    private static let type = DocumentValue.string("__vector__")
    private static let elementsName = "value"

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
