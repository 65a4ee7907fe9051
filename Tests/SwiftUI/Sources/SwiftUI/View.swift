// The part of Apple's SwiftUI that the views of the example and of a guide call, over an outline that a test reads
// instead of a screen. It follows the documentation of SwiftUI, and shows that the views compile, what they show of
// their models, and what their controls do; it cannot show their appearance.

/// A part of a screen.
@MainActor
@preconcurrency
public protocol View {
    associatedtype Body: View

    @ViewBuilder var body: Body { get }
}

extension Never: View {
    public var body: Never { preconditionFailure("There is no such view.") }
}

/// A view that the stand-in can render.
@MainActor
protocol BuiltIn: View where Body == Never {
    func show(in outline: Outline)
}

extension BuiltIn {
    public var body: Never { preconditionFailure("\(Self.self) is shown, and has no body.") }
}

/// Combines views.
@MainActor
@preconcurrency
@resultBuilder
public struct ViewBuilder: Sendable {
    public static func buildBlock() -> EmptyView { EmptyView() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }

    public static func buildBlock<each Content: View>(
        _ content: repeat each Content
    ) -> TupleView<(repeat each Content)> {
        var parts: [any View] = []
        for part in repeat each content { parts.append(part) }
        return TupleView((repeat each content), parts: parts)
    }

    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }

    public static func buildEither<First: View, Second: View>(
        first: First
    ) -> _ConditionalContent<First, Second> { .first(first) }

    public static func buildEither<First: View, Second: View>(
        second: Second
    ) -> _ConditionalContent<First, Second> { .second(second) }
}

public struct EmptyView: View, BuiltIn {
    public init() {}
    func show(in outline: Outline) {}
}

public struct TupleView<Content>: View, BuiltIn {
    public var value: Content
    private let parts: [any View]

    init(_ value: Content, parts: [any View]) {
        self.value = value
        self.parts = parts
    }

    func show(in outline: Outline) {
        for part in parts { outline.show(part) }
    }
}

// The name is Apple's.
// swift-format-ignore: NoLeadingUnderscores
public enum _ConditionalContent<First: View, Second: View>: View, BuiltIn {
    case first(First)
    case second(Second)

    func show(in outline: Outline) {
        switch self {
        case .first(let view): outline.show(view)
        case .second(let view): outline.show(view)
        }
    }
}

extension Optional: View, BuiltIn where Wrapped: View {
    public typealias Body = Never

    func show(in outline: Outline) {
        if let self { outline.show(self) }
    }
}

/// A view with a property that the outline records.
struct Modified<Content: View>: View, BuiltIn {
    let content: Content
    let note: @MainActor (Outline) -> Void

    func show(in outline: Outline) {
        note(outline)
        outline.show(content)
    }
}

/// Sample views for a canvas.
@MainActor
@preconcurrency
public protocol PreviewProvider {
    associatedtype Previews: View

    @ViewBuilder static var previews: Previews { get }
}
