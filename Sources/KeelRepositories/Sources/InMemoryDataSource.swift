internal import Synchronization

/// A data source in memory, for tests and previews.
///
/// Elements are found in the order of their ids. What it holds is gone with it.
public final class InMemoryDataSource<Element: Sendable>: LocalDataSource {
    private let id: @Sendable (Element) -> String
    private let elements: Mutex<[String: Element]>

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - elements: The elements that it holds at first.
    ///   - id: The id of an element.
    public init(_ elements: [Element] = [], id: @escaping @Sendable (Element) -> String) {
        self.id = id
        self.elements = Mutex(Dictionary(elements.map { (id($0), $0) }) { $1 })
    }

    /// Creates a source of elements that know their ids.
    public convenience init(_ elements: [Element] = [])
    where Element: Identifiable, Element.ID == String {
        self.init(elements) { $0.id }
    }

    public func find(_ id: String) async throws(DataSourceError) -> Element? {
        elements.withLock { $0[id] }
    }

    public func findAll() async throws(DataSourceError) -> [Element] {
        elements.withLock { $0.sorted { $0.key < $1.key }.map(\.value) }
    }

    public func save(_ elements: [Element]) async throws(DataSourceError) {
        let pairs = elements.map { (id($0), $0) }
        self.elements.withLock { $0.merge(pairs) { $1 } }
    }

    public func delete(_ ids: [String]) async throws(DataSourceError) {
        elements.withLock { elements in for id in ids { elements[id] = nil } }
    }

    public func removeAll() async throws(DataSourceError) { elements.withLock { $0 = [:] } }
}
