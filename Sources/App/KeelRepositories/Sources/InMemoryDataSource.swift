internal import Synchronization

/// An in-memory data source, for tests and previews.
///
/// Elements are ordered by id.
public final class InMemoryDataSource<Element: Sendable>: LocalDataSource {
    private let id: @Sendable (Element) -> String
    private let elements: Mutex<[String: Element]>

    /// Creates a source with these elements; `id` returns the id of an element.
    public init(_ elements: [Element] = [], id: @escaping @Sendable (Element) -> String) {
        self.id = id
        self.elements = Mutex(Dictionary(elements.map { (id($0), $0) }) { $1 })
    }

    /// Creates a source of identifiable elements.
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
