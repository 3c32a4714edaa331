use super::*;
use crate::ps::tests::program;
use crate::top::timeline::tests::moment;
use scafd::control::Snapshot;

fn state(programs: &[(u64, u32)]) -> State {
    let moments = (1..=50u64).map(|at| moment(at * 1_000_000_000, programs));
    State { source: Source::Daemon, plays: false, ..State::new(Timeline::recorded(moments), Source::Daemon) }
}

fn typed(state: &mut State, text: &str) -> Option<Action> {
    text.chars().map(|c| state.key(Key::Char(c))).last().flatten()
}

#[test]
fn q_and_f10_end_it() {
    for key in [Key::Char('q'), Key::F(10)] {
        assert_eq!(state(&[(1, 2)]).key(key), Some(Action::Quit));
    }
}

#[test]
fn arrows_select_in_the_order_of_the_rows() {
    let mut state = state(&[(1, 2), (2, 8), (3, 4)]);
    assert_eq!(state.selected_program().map(|it| it.id), Some(2));
    state.key(Key::Down);
    assert_eq!(state.selected, Some(3));
    state.key(Key::End);
    state.key(Key::Down);
    assert_eq!(state.selected, Some(1));
    state.key(Key::Home);
    assert_eq!(state.selected, Some(2));
}

#[test]
fn what_is_typed_filters_until_enter() {
    let mut state = state(&[(1, 2), (2, 8)]);
    typed(&mut state, "/p1");
    assert_eq!(state.rows().len(), 1);
    typed(&mut state, "q");
    assert!(state.rows().is_empty());
    state.key(Key::Backspace);
    state.key(Key::Enter);
    assert_eq!((state.mode.clone(), state.rows().len()), (Mode::Table, 1));
    state.key(Key::Esc);
    assert_eq!(state.rows().len(), 2);
}

#[test]
fn limits_are_asked_for_and_go_to_the_selected_program() {
    let mut state = state(&[(1, 2), (2, 8)]);
    typed(&mut state, "M12");
    let values = LimitValues { max: Some(12), ..LimitValues::default() };
    assert_eq!(state.key(Key::Enter), Some(Action::Limit(2, values)));
    typed(&mut state, "w0.5");
    let values = LimitValues { weight: Some(0.5), ..LimitValues::default() };
    assert_eq!(state.key(Key::Enter), Some(Action::Limit(2, values)));
    typed(&mut state, "m1.5");
    assert_eq!(state.key(Key::Enter), None);
    assert!(state.message.contains("no number"));
    assert_eq!(
        state.key(Key::F(8)),
        Some(Action::Limit(2, LimitValues { weight: Some(2.0), ..LimitValues::default() }))
    );
}

#[test]
fn a_policy_is_chosen_from_a_list_that_begins_at_the_one_in_force() {
    let mut state = state(&[(1, 2)]);
    state.key(Key::Char('p'));
    assert_eq!(state.key(Key::Enter), Some(Action::SetPolicy("scaf".into())));
}

#[test]
fn a_recording_is_not_changed_and_plays_on_after_space() {
    let mut state = State { source: Source::Recording("x".into()), plays: true, ..state(&[(1, 2)]) };
    assert!(state.key(Key::F(7)).is_none() && state.message.contains("recording"));
    state.key(Key::Char(' '));
    assert!(!state.plays);
    state.key(Key::Char(' '));
    assert!(state.plays && state.play(10_500_000_000));
    assert_eq!(state.view().unwrap().now_ns, 10_000_000_000);
    state.play(u64::MAX);
    assert!(!state.plays);
}

#[test]
fn space_stays_with_the_moment_and_goes_on() {
    let mut state = state(&[(1, 2)]);
    state.timeline.follow();
    state.key(Key::Char(' '));
    assert!(!state.timeline.follows());
    state.key(Key::Left);
    assert_eq!(state.view().unwrap().moment, 49);
    state.key(Key::Char(' '));
    assert!(state.timeline.follows() && state.view().unwrap().moment == 50);
}

#[test]
fn one_users_programs_are_chosen_by_name() {
    let mut state = state(&[(1, 2)]);
    let mut other = moment(60_000_000_000, &[(1, 2)]);
    other.programs.push(scafd::control::Program { id: 9, uid: 7, ..program() });
    state.timeline = Timeline::recorded([other].into_iter());
    state.users = [(7, "ann".to_owned())].into();
    state.key(Key::Char('u'));
    assert_eq!(state.offers(Menu::User), ["all users", "ann", "1000"]);
    state.key(Key::Down);
    state.key(Key::Enter);
    assert_eq!((state.choice.user, state.rows().len()), (Some(7), 1));
    let _: Option<&Snapshot> = state.view();
}
