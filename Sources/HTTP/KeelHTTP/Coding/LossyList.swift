/// A list that keeps the elements which can be decoded and reports the others.
///
/// ```swift
/// let page = try await client.request(GetFeed(), as: LossyList<Item>.self)
/// show(page.elements)
/// log(page.droppedElements.map(\.description))
/// ```
///
/// A value that is not a list is still an error. Encoding produces a plain list of ``elements``.
public struct LossyList<Element: Decodable> {
    /// The decoded elements, in order.
    public var elements: [Element]

    /// The elements that could not be decoded, in order.
    public var droppedElements: [DroppedElement]

    /// Creates a list.
    public init(_ elements: [Element] = [], droppedElements: [DroppedElement] = []) {
        self.elements = elements
        self.droppedElements = droppedElements
    }
}

/// An element of a ``LossyList`` that did not match its type.
public struct DroppedElement: Sendable, Hashable, CustomStringConvertible {
    /// The position of the element in the list, from 0.
    public let index: Int

    /// The reason, with its place inside the element but without any value.
    public let reason: String

    /// Creates a report.
    public init(index: Int, reason: String) {
        self.index = index
        self.reason = reason
    }

    /// The index and the reason on one line, safe for logs.
    public var description: String { "[\(index)]: \(reason)" }
}

extension LossyList: Decodable {
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        self.init()
        elements.reserveCapacity(container.count ?? 0)
        let depth = container.codingPath.count + 1
        while !container.isAtEnd {
            let index = container.currentIndex
            do {
                elements.append(try container.decode(Element.self))
            } catch {
                let failure = DecodingFailure(error, droppingFirst: depth)
                droppedElements.append(DroppedElement(index: index, reason: failure.explanation))
                // A decoder does not advance past an element that it failed to decode.
                if container.currentIndex == index { _ = try container.decode(Ignored.self) }
            }
            guard container.currentIndex > index else {
                throw DecodingError.dataCorruptedError(
                    in: container,
                    debugDescription: "The decoder cannot skip an element."
                )
            }
        }
    }

    private struct Ignored: Decodable {
        init(from decoder: any Decoder) {}
    }
}

extension LossyList: Encodable where Element: Encodable {
    public func encode(to encoder: any Encoder) throws {
        try elements.encode(to: encoder)
    }
}

extension LossyList: Sendable where Element: Sendable {}
extension LossyList: Equatable where Element: Equatable {}
extension LossyList: Hashable where Element: Hashable {}
