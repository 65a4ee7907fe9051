#if canImport(SwiftUI)
internal import RestaurantsUI
internal import SwiftUI

/// A view of loadable content, its progress, its absence, or its failure with a way to try again.
struct ContentView<Value: Sendable, Shown: View>: View {
    let content: ScreenContent<Value>
    let emptyText: String
    let retry: @MainActor () async -> Void
    @ViewBuilder let shown: @MainActor (Value) -> Shown

    var body: some View {
        switch content {
        case .loading:
            ProgressView()
        case .shown(let value):
            shown(value)
        case .empty:
            Text(emptyText).foregroundStyle(.secondary)
        case .failed(let failure):
            VStack(spacing: 12) {
                FailureView(failure: failure)
                Button("Try again") { Task { await retry() } }
            }
        }
    }
}

/// A view of a failure: the problem and the remedy.
struct FailureView: View {
    let failure: ScreenFailure

    var body: some View {
        VStack(alignment: .leading, spacing: 4) {
            Label(failure.title, systemImage: "exclamationmark.triangle")
            if let advice = failure.advice {
                Text(advice).font(.footnote).foregroundStyle(.secondary)
            }
        }
    }
}

/// A view of a failure above content that is still shown.
struct NoticeView: View {
    let notice: ScreenFailure?
    let dismiss: @MainActor () -> Void

    var body: some View {
        if let notice {
            HStack {
                FailureView(failure: notice)
                Spacer()
                Button("Dismiss", action: dismiss)
            }
        }
    }
}
#endif
