/// A property that the view's owner updates before it reads the view's body.
@preconcurrency
public protocol DynamicProperty { mutating func update() }

extension DynamicProperty {
    public mutating func update() {}
}

/// A value that a view owns.
@propertyWrapper
@MainActor
@preconcurrency
public struct State<Value>: DynamicProperty {
    private final class Box {
        var value: Value
        init(_ value: Value) { self.value = value }
    }

    private let box: Box

    public init(wrappedValue: Value) { box = Box(wrappedValue) }
    public init(initialValue: Value) { box = Box(initialValue) }

    public var wrappedValue: Value {
        get { box.value }
        nonmutating set { box.value = newValue }
    }

    public var projectedValue: Binding<Value> {
        Binding {
            box.value
        } set: {
            box.value = $0
        }
    }
}

/// A reference to a value that is stored elsewhere.
@propertyWrapper
@dynamicMemberLookup
@MainActor
@preconcurrency
public struct Binding<Value> {
    private let read: @MainActor () -> Value
    private let write: @MainActor (Value) -> Void

    public init(get: @escaping @MainActor () -> Value, set: @escaping @MainActor (Value) -> Void) {
        (read, write) = (get, set)
    }

    public var wrappedValue: Value {
        get { read() }
        nonmutating set { write(newValue) }
    }

    public subscript<Subject>(
        dynamicMember path: WritableKeyPath<Value, Subject>
    ) -> Binding<Subject> {
        Binding<Subject> {
            read()[keyPath: path]
        } set: { value in
            var whole = read()
            whole[keyPath: path] = value
            // For a class this assigns the same object.
            write(whole)
        }
    }
}

/// Creates bindings to the properties of an observable object.
@propertyWrapper
@dynamicMemberLookup
@MainActor
@preconcurrency
public struct Bindable<Value: AnyObject> {
    public var wrappedValue: Value

    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    public var projectedValue: Bindable<Value> { self }

    public subscript<Subject>(
        dynamicMember path: ReferenceWritableKeyPath<Value, Subject>
    ) -> Binding<Subject> {
        let object = wrappedValue
        return Binding<Subject> {
            object[keyPath: path]
        } set: {
            object[keyPath: path] = $0
        }
    }
}
