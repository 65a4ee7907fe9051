/// The dependencies of the running code: the overrides that apply to it, and otherwise each key's default.
///
/// `withDependencies(_:operation:)` changes a copy and makes it ``current`` for one operation. Child tasks, task groups
/// and `Task { }` inherit the values; see <doc:KeelDependencies> for code that does not.
///
/// Extend this type with one property per key, as shown in ``DependencyKey``.
public struct DependencyValues: Sendable {
    /// The dependencies of the calling code.
    public static var current: Self { taskLocal }

    @TaskLocal package static var taskLocal = Self()

    private struct Entry: Sendable {
        let value: any Sendable
        let depth: Int
    }

    private var entries: [ObjectIdentifier: Entry] = [:]
    /// The overrides that applied when the reading object was created.
    private var entriesOfReader: [ObjectIdentifier: Entry] = [:]
    private var depth = 0
    private var locationOfReader: DependencyLocation?

    /// The value of a key: the override, or the key's default in this context.
    public subscript<Key: DependencyKey>(
        key: Key.Type,
        fileID: String = #fileID,
        filePath: String = #filePath,
        line: Int = #line,
        column: Int = #column
    ) -> Key.Value {
        get {
            if let value = setValue(of: key) {
                return value
            }
            let location = DependencyLocation(
                fileID: fileID,
                filePath: filePath,
                line: line,
                column: column
            )
            return defaultValue(of: key, readAt: locationOfReader ?? location)
        }
        set {
            entries[ObjectIdentifier(key)] = Entry(value: newValue, depth: depth)
        }
    }

    /// The context that selects the default values of keys.
    public var context: DependencyContext {
        get { setValue(of: ContextKey.self) ?? .ofProcess }
        set { self[ContextKey.self] = newValue }
    }

    /// The reporter of accesses to unset keys.
    ///
    /// In tests that use `KeelDependenciesTesting`, the default reports to the running test. Otherwise, it stops the
    /// process. With XCTest, set it around the test:
    ///
    /// `$0.issueReporter = DependencyIssueReporter { XCTFail($0.message) }`
    public var issueReporter: DependencyIssueReporter {
        get { setValue(of: ReporterKey.self) ?? .ofProcess }
        set { self[ReporterKey.self] = newValue }
    }

    var location: DependencyLocation? { locationOfReader }
}

extension DependencyValues {
    package func nested(_ update: (inout Self) -> Void) -> Self {
        var values = self
        values.beginNested()
        update(&values)
        values.endNested()
        return values
    }

    /// Begins a nested operation, whose overrides win over all enclosing ones.
    package mutating func beginNested() {
        depth += 1
    }

    /// Ends the setup of a nested operation.
    ///
    /// The outermost operation of a test owns the test values created in it.
    package mutating func endNested() {
        if context == .test, setValue(of: TestCacheKey.self) == nil {
            self[TestCacheKey.self] = ValueCache()
        }
    }

    /// Returns these values combined with those that were current when the reader was created.
    ///
    /// If both set a key, the innermost override wins, and at equal depth the one around the access.
    func seen(by reader: Self, at location: DependencyLocation) -> Self {
        var values = self
        values.entriesOfReader = reader.entries
        values.locationOfReader = location
        return values
    }

    private func setValue<Key: DependencyKey>(of key: Key.Type) -> Key.Value? {
        let id = ObjectIdentifier(key)
        var innermost = entries[id]
        if let ofReader = entriesOfReader[id], ofReader.depth > innermost?.depth ?? -1 {
            innermost = ofReader
        }
        // Unwrapped before the cast: otherwise a missing value would pass for nil of an optional type.
        guard let innermost else { return nil }
        return innermost.value as? Key.Value
    }

    private func defaultValue<Key: DependencyKey>(
        of key: Key.Type,
        readAt location: DependencyLocation
    ) -> Key.Value {
        switch context {
        case .live:
            return ValueCache.live.value(of: key) {
                Self.untouched(.live) { Key.liveValue }
            }
        case .preview:
            return ValueCache.preview.value(of: key) {
                Self.untouched(.preview) { Key.previewValue }
            }
        case .test:
            var values = self
            values.locationOfReader = location
            let make = { Self.$taskLocal.withValue(values) { Key.testValue } }
            guard let cache = setValue(of: TestCacheKey.self) else { return make() }
            return cache.value(of: key, make: make)
        }
    }

    /// Creates a value that belongs to the whole process, unaffected by overrides.
    private static func untouched<Value>(
        _ context: DependencyContext,
        _ make: () -> Value
    ) -> Value {
        var values = Self()
        values.context = context
        return $taskLocal.withValue(values, operation: make)
    }
}

private enum ContextKey: DependencyKey {
    static var liveValue: DependencyContext { .ofProcess }
}

private enum ReporterKey: DependencyKey {
    static var liveValue: DependencyIssueReporter { .ofProcess }
}

private enum TestCacheKey: DependencyKey {
    static var liveValue: ValueCache { ValueCache() }
}
