public import KeelDocuments

/// A migration step of a collection's documents from one version to the next.
///
/// ```swift
/// let migrations = DocumentMigrations([
///     DocumentMigration("restaurants", to: 1) { fields, _ in
///         fields["cuisines"] = .array([fields["cuisine"] ?? .null])
///         fields["cuisine"] = nil
///     }
/// ])
/// let storage = StorageClient(adapter.migrating(migrations))
/// ```
public struct DocumentMigration: Sendable {
    /// Changes the fields of one document.
    ///
    /// It can run several times on the same state, and must give the same result.
    public typealias Transform = @Sendable (inout DocumentFields, DocumentPath) throws -> Void

    /// The name of the collections.
    public let collection: String
    /// The version after the step; the first is 1.
    public let version: Int
    let transform: Transform

    /// Creates a step.
    public init(_ collection: String, to version: Int, _ transform: @escaping Transform) {
        self.collection = collection
        self.version = version
        self.transform = transform
    }
}

/// The migration steps of an app's documents.
///
/// A document stores its version in the field ``versionField``; a document without it has version 0.
public struct DocumentMigrations: Sendable {
    /// The field that stores a document's version.
    public static let versionField: FieldPath = "_version"

    /// The steps by the names of the collections, as paths, which compare by bytes.
    private let steps: [CollectionPath: [DocumentMigration]]

    /// Creates a history of migration steps.
    ///
    /// - Precondition: The versions of a collection are 1, 2, 3, … without a gap.
    public init(_ migrations: [DocumentMigration]) {
        steps = Dictionary(grouping: migrations) { CollectionPath(trusted: $0.collection) }
            .mapValues { $0.sorted { $0.version < $1.version } }
        for (collection, steps) in steps {
            precondition(
                steps.map(\.version) == Array(1...steps.count),
                "the versions of “\(collection)” must be 1, 2, 3, … without a gap"
            )
        }
    }

    /// The names of the collections that have steps.
    public var collections: [String] { steps.keys.sorted().map(\.string) }

    private func history(of collection: CollectionPath) -> [DocumentMigration]? {
        steps[CollectionPath(trusted: collection.name)]
    }

    /// Returns the current version of a collection's documents; nil for a collection without steps.
    package func currentVersion(of collection: CollectionPath) -> Int? {
        history(of: collection)?.last?.version
    }

    static func version(of body: DocumentBody) -> Int {
        Int(clamping: body.value(at: versionField)?.integerValue ?? 0)
    }

    @discardableResult
    func knownVersion(of document: Document) throws(StorageError) -> Int {
        let version = Self.version(of: document.body)
        guard let known = currentVersion(of: document.path.collection), version > known else {
            return version
        }
        throw StorageError(
            .schemaTooNew,
            "“\(document.path)” is at version \(version); this app knows \(known)",
            resource: document.path.string
        )
    }

    /// Returns the document's body at the current version, or nil if it already has that version.
    func migrated(_ document: Document) throws(StorageError) -> DocumentBody? {
        guard let steps = history(of: document.path.collection) else { return nil }
        let version = try knownVersion(of: document)
        guard version < steps.count else { return nil }
        var fields = try document.fields()
        for step in steps[max(0, version)...] {
            do {
                try step.transform(&fields, document.path)
            } catch {
                throw StorageError(
                    .decodingFailed,
                    "the migration of “\(document.path)” to version \(step.version) failed",
                    resource: document.path.string,
                    cause: error
                )
            }
        }
        fields[Self.versionField] = .integer(Int64(steps.count))
        return DocumentBody(fields)
    }

    func stamped(
        _ body: DocumentBody,
        in collection: CollectionPath
    ) throws(StorageError) -> DocumentBody {
        guard let version = currentVersion(of: collection) else { return body }
        var fields = try body.fields()
        fields[Self.versionField] = .integer(Int64(version))
        return DocumentBody(fields)
    }
}
