/// A transport that brings layers to the clients which use it.
///
/// They do what an app expects of a client and a transport must not do: a transport hands bodies on
/// as the server sent them, and who uses it without a client gets them so.
package protocol LayeringTransport: Sendable {
    /// The layers, which a client puts below those of its app.
    var clientLayers: [any HTTPMiddleware] { get }
}
