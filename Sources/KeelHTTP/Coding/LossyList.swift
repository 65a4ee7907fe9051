/// A list that keeps the elements which can be decoded and reports the others.
///
/// ```swift
/// let page = try await client.request(GetFeed(), as: LossyList<Item>.self)
/// show(page.elements)
/// log(page.dropped.map(\.description))
/// ```
///
/// One element that does not fit its type costs that element, not the whole response. What is no
/// list at all is still an error. Writing gives a plain list.
public struct LossyList<Element: Decodable> {
    /// The elements that could be decoded, in their order.
    public var elements: [Element]

    /// The elements that were left out, in order.
    public var dropped: [DroppedElement]

    /// Creates a list.
    public init(_ elements: [Element] = [], dropped: [DroppedElement] = []) {
        self.elements = elements
        self.dropped = dropped
    }
}

/// An element of a ``LossyList`` that did not fit its type.
public struct DroppedElement: Sendable, Hashable, CustomStringConvertible {
    /// Where the element stands in the list, from 0 on.
    public let index: Int

    /// The reason, with its place inside the element; never a value.
    public let reason: String

    /// Creates a report.
    public init(index: Int, reason: String) {
        self.index = index
        self.reason = reason
    }

    /// The index and the reason on one line, fit for a log.
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
                dropped.append(DroppedElement(index: index, reason: failure.explanation))
                // A decoder stays where it failed.
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

    /// Fits whatever there is.
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
