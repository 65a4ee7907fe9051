/// A part of an app, such as its windows.
@MainActor
@preconcurrency
public protocol Scene {
    associatedtype Body: Scene

    @SceneBuilder var body: Body { get }
}

extension Never: Scene {}

/// Combines scenes; here an app has one.
@MainActor
@preconcurrency
@resultBuilder
public struct SceneBuilder: Sendable {
    public static func buildExpression<Content: Scene>(_ content: Content) -> Content { content }
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}

public struct WindowGroup<Content: View>: Scene {
    let content: Content

    public init(@ViewBuilder content: () -> Content) { self.content = content() }

    public var body: Never { preconditionFailure("Windows are shown, and have no body.") }
}

extension WindowGroup: Window {
    func show(in outline: Outline) { outline.show(content) }
}

/// A scene that the stand-in can render.
@MainActor
protocol Window {
    func show(in outline: Outline)
}

@MainActor
@preconcurrency
public protocol App {
    associatedtype Body: Scene

    @SceneBuilder var body: Body { get }

    init()
}

extension App {
    /// Creates the app and its windows.
    ///
    /// They are not shown here, so the call returns immediately.
    public static func main() { _ = Outline(of: Self()) }
}

extension Outline {
    /// Returns the outline of an app's windows.
    public convenience init(of app: some App) {
        self.init { outline in (app.body as? any Window)?.show(in: outline) }
    }
}
