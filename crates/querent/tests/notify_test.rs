use crate::common::Project;
use crate::common::receiver::Receiver;

#[test]
fn each_channel_says_whether_it_took_the_message() {
    let receiver = Receiver::start();
    let url = &receiver.url;
    let project = Project::empty().with_config(&format!(
        "[[notify]]\nchannel = \"ntfy\"\nurl = \"{url}/topic\"\n\n\
         [[notify]]\nchannel = \"slack\"\nurl_env = \"NOT_SET_ANYWHERE\"\n"
    ));
    let replies = std::thread::spawn(move || receiver.take().body);

    let output = project.run(&["notify", "test"]);

    assert_eq!(output.code, 1, "{}", output.stderr);
    assert!(output.stdout.contains("ntfy (ntfy): took it"), "{}", output.stdout);
    assert!(output.stdout.contains("the environment variable NOT_SET_ANYWHERE is not set"), "{}", output.stdout);
    assert_eq!(replies.join().unwrap()["topic"], "topic");
}

#[test]
fn a_project_without_channels_is_told_where_they_go() {
    let project = Project::empty();

    assert!(project.run(&["notify", "test"]).stdout.contains("[[notify]]"));
    assert_eq!(project.run(&["notify", "test", "--channel", "pigeon"]).code, 1);
}
